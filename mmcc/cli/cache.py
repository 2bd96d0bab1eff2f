"""`mmcc cache`: what the tools keep, and how to be rid of it."""

from __future__ import annotations

from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.output import answer


def cache(
    *,
    clear: Annotated[bool, Arg("remove everything; it will be computed again when it is needed")] = False,
    json: Annotated[bool, Arg("print it as JSON")] = False,
) -> int:
    """Show where decoded videos and computed answers are kept, and how much there is; or remove them.

    The folder is $MMCC_CACHE, else $XDG_CACHE_HOME/mmcc, else ~/.cache/mmcc.

    examples:
      mmcc cache
      mmcc cache --clear
    """
    from mmcc.tools.cache import LIMIT, Cache, render_cache

    opened = Cache.default()
    removed = opened.clear() if clear else 0
    kinds = opened.sizes()
    content = {
        "folder": str(opened.folder),
        "bytes": sum(kind.bytes for kind in kinds.values()),
        "limit": LIMIT,
        "kinds": {name: kind._asdict() for name, kind in kinds.items()},
        "removed": removed,
    }
    return answer(content, render_cache(opened.folder, kinds, removed), as_json=json)
