"""Publish a trained run as a model that ships with the package.

    python -m scripts.publish_model RUN CORPUS mmcc/pretrained/NAME

Writes the files that inference needs (no optimizer state, no local paths); what the training videos look like, by which
unfamiliar footage is recognized (for a model with a frozen encoder, that encoder's vectors); and, if the corpus has
labelled steps, the calibration of `mmcc anticipate`.
`--order FILE` adds the sharpness of the probabilities of `mmcc unshuffle`, as `scripts.real_results` fits it.
The same run produces the same bytes. manifest.json has the checksums of all of them: whoever changes a file by hand
runs `python -m scripts.publish_model --seal mmcc/pretrained/NAME`. Write card.md yourself; an existing one is kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from mmcc.checksums import MANIFEST, seal
from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.evaluation.runs import find_checkpoint
from mmcc.tools.anticipate import CALIBRATION, fit_calibration
from mmcc.tools.domain import FILE, Domain, save_domain
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.familiar import fit_domain
from mmcc.tools.model import ORDER, ToolModel, open_model
from mmcc.tools.stored import training_vectors

CARD = "card.md"
MOST_BYTES = 15_000_000
_FILES = ("config.json", "config.yaml", "model.safetensors", "vocabulary.txt")  # the last if it reads words


def publish(run: Path, corpus: Corpus, out: Path, order: Path | None = None) -> Domain | EmbeddingDomain:
    """Write the model to a folder."""
    found = find_checkpoint(run)
    files = [name for name in _FILES if (found.folder / name).is_file()]
    size = sum((found.folder / name).stat().st_size for name in files)
    if size > MOST_BYTES:
        remedy = "Train one with a smaller model.frame_encoder.width or model.dims."
        raise InputError(found.folder, f"is {size / 1e6:.1f} MB; a published model may have at most 15 MB", remedy)
    out.mkdir(parents=True, exist_ok=True)
    for name in {*_FILES, CALIBRATION, MANIFEST} - {*files}:  # of an earlier model
        (out / name).unlink(missing_ok=True)
    for name in files:
        shutil.copyfile(found.folder / name, out / name)
    settings = {"videos": len(corpus), **corpus.manifest.settings()}
    (out / "corpus.json").write_text(json.dumps(settings, indent=1) + "\n")
    model = open_model(out)
    domain = fit_domain(model, corpus)
    if domain is None:
        raise _no_domain(model, corpus)
    save_domain(domain, out / FILE)
    calibration = fit_calibration(model, corpus)
    if calibration is not None:
        (out / CALIBRATION).write_text(json.dumps(calibration.to_json(), indent=1) + "\n")
    if order:
        shutil.copyfile(order, out / ORDER)
    seal_model(out)
    return domain


def seal_model(folder: Path) -> None:
    """Write the checksums of all files but the card, which may be edited."""
    seal(folder, {path.name for path in folder.iterdir() if path.is_file()} - {CARD, MANIFEST})


def _no_domain(model: ToolModel, corpus: Corpus) -> InputError:
    if model.frozen_encoder and training_vectors(model, corpus) is None:
        remedy = f"Run mmcc embed {corpus.path} --frames {model.frozen_encoder.name}"
        return InputError(corpus.path, f"has no embeddings by the {model.frozen_encoder.name} of the run", remedy)
    cause = "has too few videos to recognize unfamiliar footage"
    return InputError(corpus.path, cause, "Publish a model trained on more.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("run", "corpus", "out"):
        parser.add_argument(name, type=Path, nargs="?")
    parser.add_argument("--order", type=Path, help="a file with the sharpness of orders")
    parser.add_argument("--seal", type=Path, help="only write the checksums of a folder", metavar="OUT")
    given = parser.parse_args()
    if given.seal:
        seal_model(given.seal)
        return 0
    if not given.out:
        parser.error("RUN, CORPUS and OUT are needed")
    try:
        domain = publish(given.run, Corpus.open(given.corpus), given.out, given.order)
    except InputError as error:
        print(f"publish_model: {error}", file=sys.stderr)
        return 3
    total = sum(path.stat().st_size for path in given.out.iterdir() if path.is_file())
    print(f"{given.out}: {total / 1e6:.1f} MB, limit of one frame {domain.limits[0]:.3f}")
    if not (given.out / CARD).is_file():
        print(f"Write {given.out / CARD}: data, seed, steps, figures, limits, licence.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
