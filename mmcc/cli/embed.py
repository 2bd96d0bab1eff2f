"""`mmcc embed`: pretrained encoders over a corpus, once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.engines import Address, EngineName, opened, refuse_remote, require_engine
from mmcc.cli.output import answer
from mmcc.errors import UsageError


def embed(
    corpus: Annotated[Path, Arg("a corpus folder", remote=True)],
    /,
    *,
    frames: Annotated[
        str | None,
        Arg("encoder of the frames, e.g. efficientnet-lite2 or onnx:FILE", metavar="NAME"),
    ] = None,
    text: Annotated[str | None, Arg("encoder of the utterances, e.g. minilm or onnx:FILE", metavar="NAME")] = None,
    fps: Annotated[float | None, Arg("frames per second to embed (default: all)", metavar="RATE", above=0)] = None,
    workers: Annotated[
        int | None, Arg("with --engine ray: videos to embed at once (default: one per core)", metavar="N", least=1)
    ] = None,
    engine: EngineName = "local",
    address: Address = None,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
) -> int:
    """Compute the vectors of pretrained encoders once, and keep them in the corpus.

    Training with --config real then takes a minute or two on a CPU. Can be stopped at any time; run it again to
    continue, or to embed videos that were added.

    examples:
      mmcc embed cooking.corpus --frames efficientnet-lite2 --text minilm
      mmcc embed cooking.corpus --frames "onnx:dinov2.onnx?pooling=cls" --fps 0.5
    """
    from mmcc.corpus import Corpus
    from mmcc.data.embed import embed as run
    from mmcc.data.embed import render_embedding
    from mmcc.progress import bar

    if frames is None and text is None:
        raise UsageError("name an encoder: --frames efficientnet-lite2, --text minilm, or both.")
    require_engine(engine, address)
    if engine == "ray":
        refuse_remote(corpus, "mmcc embed")
    if workers is not None and engine != "ray":
        raise UsageError("--workers needs --engine ray: on one machine, each encoder uses all cores.")
    names = {"frames": [frames] if frames else [], "text": [text] if text else []}
    with opened(engine, address, workers) as where:
        elsewhere = where if engine == "ray" else None
        reports = run(Corpus.open(corpus), **names, fps=fps, bars=bar, engine=elsewhere)
    content = {"schema": 1, "corpus": str(corpus), "embedded": [report.to_json() for report in reports]}
    return answer(content, "\n".join(render_embedding(reports, corpus)), as_json=json)
