"""The argument that names a trained model, the same in every command."""

from mmcc.cli.arguments import Arg
from mmcc.pretrained import shipped_names

MODEL = Arg(f"a run, a checkpoint's folder, or a model that comes with mmcc: {', '.join(shipped_names())}")
