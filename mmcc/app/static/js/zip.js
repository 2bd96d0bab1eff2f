/** A ZIP archive of files as they are (stored, not compressed: photos are compressed already). */

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

export function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

function record(signature, fields) {
  const view = new DataView(new ArrayBuffer(4 + fields.reduce((sum, [size]) => sum + size, 0)));
  view.setUint32(0, signature, true);
  let at = 4;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return new Uint8Array(view.buffer);
}

/** `entries`: [{name, bytes}]; names are UTF-8 (flag 0x800). */
export function zip(entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  let size = 0;
  for (const { name, bytes } of entries) {
    const path = new TextEncoder().encode(name);
    const sum = crc32(bytes);
    const shared = [
      [2, 20],
      [2, 0x800],
      [2, 0],
      [2, 0],
      [2, 0x21],
      [4, sum],
      [4, bytes.length],
      [4, bytes.length],
      [2, path.length],
      [2, 0],
    ];
    const local = record(0x04034b50, shared);
    const central = record(0x02014b50, [[2, 20], ...shared, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]);
    parts.push(local, path, bytes);
    directory.push(central, path);
    offset += local.length + path.length + bytes.length;
    size += central.length + path.length;
  }
  const end = record(0x06054b50, [
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the download has begun by then
}
