"""Addresses of objects: `s3://bucket/key?endpoint_override=localhost:9000&scheme=http&region=eu-west-1`.

Keys are taken literally, as the AWS command line does: a space is a space, and "%20" is not. Credentials in an address
(`s3://KEY:SECRET@bucket/…`) are used, and kept in the memory of this process alone: no path has them.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from mmcc.errors import InputError
from mmcc.text import without_credentials

OPTIONS = ("region", "scheme", "endpoint_override", "anonymous")
_SCHEME = re.compile(r"s3:/{1,2}(?=[^/]|\Z)")  # one slash: pathlib has had the other
_CREDENTIALS = re.compile(r"([^\s@/:]+):([^\s@]+)@")
_ENDPOINT = re.compile(r"\bendpoint_override=(https?):/{1,2}")
_BUCKET = re.compile(r"[A-Za-z0-9._-]{3,255}\Z")
_HOW = f"Write s3://BUCKET/PREFIX, and options as in ?region=eu-west-1 ({', '.join(OPTIONS)})."


class Credentials(NamedTuple):
    key: str
    secret: str


class Address(NamedTuple):
    """An address in parts; `options` is a query in normal form."""

    bucket: str
    options: str
    key: tuple[str, ...]
    credentials: Credentials | None


def is_address(text: str) -> bool:
    return _SCHEME.match(text) is not None


def parse_address(text: str) -> Address:
    """InputError, which names no credentials, where an address is malformed."""
    shown = without_credentials(text)
    rest = text[_SCHEME.match(text).end() :]  # type: ignore[union-attr]
    credentials = None
    if found := _CREDENTIALS.match(rest):
        credentials, rest = Credentials(unquote(found[1]), unquote(found[2])), rest[found.end() :]
    first, *parts = _ENDPOINT.sub(r"scheme=\1&endpoint_override=", rest).split("/")
    bucket, _, query = first.partition("?")  # as `spelled` writes it: the options beside the bucket
    if parts and not query:
        parts[-1], query = _split_query(parts[-1])
    if not _BUCKET.match(bucket):
        raise InputError(shown, "is not the address of a bucket", _HOW)
    if any(part in (".", "..") for part in parts):  # requests for them would reach other objects
        raise InputError(shown, 'has a "." or ".." among the parts of its key', "Give the key without them.")
    return Address(bucket, _options(query, shown), tuple(filter(None, parts)), credentials)


def _split_query(name: str) -> tuple[str, str]:
    """A question mark may also be part of a key: what follows is a query if it has an option."""
    before, _, after = name.rpartition("?")
    known = any(each.partition("=")[0] in OPTIONS for each in after.split("&"))
    return (before, after) if known else (name, "")


def _options(query: str, shown: str) -> str:
    given = dict(parse_qsl(query))
    if unknown := sorted(given.keys() - set(OPTIONS)):
        raise InputError(shown.partition("?")[0], f"there is no option {', '.join(unknown)}", _HOW)
    if given.get("scheme", "https") not in ("http", "https"):
        raise InputError(shown.partition("?")[0], "its scheme is neither http nor https", _HOW)
    return urlencode(sorted(given.items()), safe=":")
