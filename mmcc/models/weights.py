"""Weights from a .safetensors file, checked by name and shape before any is copied."""

from collections.abc import Callable, Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

_NAMES_SHOWN = 5  # enough to see the pattern; a wrong file misses hundreds


class WeightsError(ValueError):
    """Weights that do not fit: which file, which weights, what to do."""

    def __init__(self, path: Path, cause: str, remedy: str = "") -> None:
        self.path, self.cause, self.remedy = str(path), cause, remedy
        super().__init__(f"{path}: {cause}" + (f"\n{remedy}" if remedy else ""))


def load_weights(module: nn.Module, path: Path, ignore: Callable[[str], bool] = lambda name: False) -> None:
    """Copy a file's tensors into a module. Every name and shape must fit; names selected by `ignore` are skipped.

    Batch norm's counts of batches may be missing: older published files lack them, and they are not used.
    """
    found = {name: tensor for name, tensor in _read(path).items() if not ignore(name)}
    wanted = module.state_dict()
    missing = [name for name in wanted if name not in found and not name.endswith(".num_batches_tracked")]
    unknown = [name for name in found if name not in wanted]
    misshapen = [
        f"{name} {list(tensor.shape)} instead of {list(wanted[name].shape)}"
        for name, tensor in found.items()
        if name in wanted and tensor.shape != wanted[name].shape
    ]
    problems = (("missing", missing), ("not in this model", unknown), ("of a different shape", misshapen))
    causes = [f"{len(names)} weights {problem} ({_some(names)})" for problem, names in problems if names]
    if causes:
        raise WeightsError(path, "; ".join(causes), "Are these the weights of a model with the same settings?")
    module.load_state_dict(found, strict=False)


def _read(path: Path) -> Mapping[str, Tensor]:
    try:
        tensors: Mapping[str, Tensor] = load_file(path)
    except FileNotFoundError:
        raise WeightsError(path, "no such file") from None
    except (SafetensorError, OSError) as error:
        raise WeightsError(path, f"not a readable .safetensors file ({error})") from error
    return tensors


def _some(names: list[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f", and {more} more" if more > 0 else "")
