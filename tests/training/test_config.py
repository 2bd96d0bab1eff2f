import dataclasses

import pytest
import yaml

from mmcc.errors import InputError, UsageError
from mmcc.models.encoders import FeatureSettings
from mmcc.objectives import MemDPCConfig
from mmcc.settings import flatten, to_mapping
from mmcc.training.config import Config, TrainConfig, differences, load_config
from mmcc.training.shipped import shipped_configs


def write(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return path


def problem(call):
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


def test_every_shipped_configuration_loads():
    assert shipped_configs() == [
        "cross_modal",
        "features",
        "memdpc",
        "mmcc",
        "mmcc_plus",
        "paper",
        "pretrained",
        "ra",
        "real",
        "tap",
    ]
    for name in shipped_configs():
        assert load_config(name) != Config()


def test_paper_is_the_papers():
    paper = load_config("paper")
    assert paper.train.lr == 1e-4 and paper.objective.ramp_epochs == 30 and paper.objective.similarity_ratio == 3
    assert paper.objective.cycle.starts_per_segment == 1
    assert paper.objective.cycle.similarity and not paper.objective.direction.on
    assert (paper.model.dims, paper.model.frame_encoder.width, paper.data.segment_seconds) == (512, 64, 64)


def test_direction_is_on_by_default():
    config = load_config()
    assert config == Config()
    assert config.objective.direction.on and config.objective.cycle.starts_per_segment == 8


@pytest.mark.parametrize("name", [None, *shipped_configs()])
def test_written_and_read_again_it_is_the_same(tmp_path, name):
    config = load_config(name, ["train.betas=[0.8, 0.95]", "data.frame_rates=[0.5]"])
    assert Config.from_yaml(write(tmp_path, config.to_yaml())) == config


def test_overrides_reach_every_depth():
    config = load_config("paper", ["train.lr=3e-4", "objective.cycle.path=across", "data.augment=true"])
    assert config.train.lr == 3e-4 and config.objective.cycle.path == "across" and config.data.augment
    assert differences(config, load_config("paper")).keys() == {"train.lr", "objective.cycle.path", "data.augment"}


def test_yaml_without_a_dot_is_a_number_too(tmp_path):
    assert load_config(write(tmp_path, "train: {lr: 1e-4, weight_decay: 0}")).train.lr == 1e-4


@pytest.mark.parametrize(
    "text, said",
    [
        ("train: {learning_rate: 1}", "there is no setting 'train.learning_rate'; known here: epochs, steps"),
        ("trian: {lr: 1}", "there is no setting 'trian'; known here: imports, data, model, objective, train"),
        ("objective: {cycle: {pth: within}}", "'objective.cycle.pth'; known here: path"),
        ("train: {lr: fast}", "train.lr must be a number, not 'fast'"),
        ("train: {lr: .nan}", "train.lr must be a finite number"),
        ("train: {batch_size: 2.5}", "train.batch_size must be a whole number, not 2.5"),
        ("train: {batch_size: true}", "train.batch_size must be a whole number, not True"),
        ("train: {compile: 1}", "train.compile must be true or false, not 1"),
        ("train: {precision: fp16}", "train.precision must be one of fp32, bf16, not 'fp16'"),
        ("train: {betas: [0.9]}", "train.betas must have 2 values, not 1"),
        ("train: {betas: [0.9, x]}", "train.betas[1] must be a number"),
        ("train: {betas: 0.9}", "train.betas must be a list"),
        ("train: 3", "train must be a section of settings, not 3"),
        ("train: {batch_size: 0}", "train.batch_size must be at least 1"),
        ("train: {batch_size: 6, accumulation: 4}", "train.batch_size 6 cannot be split in 4"),
        ("train: {steps: many}", "train.steps must be a whole number, not 'many' (or null)"),
        ("train: {steps: 3, epochs: 4}", "train.steps: set exactly one of it and epochs"),
        ("train: {steps: null, epochs: null}", "train.steps: set exactly one of it and epochs"),
        ("model: {dims: 0}", "model.dims is 0"),
        (
            "model: {frame_encoder: dino}",
            "model.frame_encoder: no frame encoder is named 'dino' (known: eff",
        ),
        ("objective: {name: memdpc, lambda1: 1}", "there is no setting 'objective.lambda1'; known here: name, slots"),
        ("objective: {ramp_share: 2}", "objective.ramp_share must be 0 to 1"),
        ("objective: {lambda1: -1}", "objective.lambda1 must be 0"),
        ("imports: [no.such.module]", "needs the module no.such.module"),
        ("[1, 2]", "does not contain settings"),
        ("train: {lr: [", "is not valid YAML"),
    ],
)
def test_a_mistake_names_the_file_and_the_setting(tmp_path, text, said):
    path = write(tmp_path, text)
    error = problem(lambda: load_config(path))
    assert error.path == str(path) and said in error.cause and error.remedy


@pytest.mark.parametrize("override", ["train.lr", "=3", "train..lr=3", "train.lrr=3", "train.lr=x"])
def test_a_mistake_on_the_command_line(override):
    with pytest.raises(UsageError):
        load_config("paper", [override])


def test_no_such_file():
    error = problem(lambda: load_config("papre"))
    assert (
        "no such configuration" in error.cause
        and "cross_modal, features, memdpc, mmcc, mmcc_plus, paper" in error.remedy
    )


def test_an_empty_file_is_the_defaults(tmp_path):
    assert load_config(write(tmp_path, "")) == Config()


def test_steps_replace_epochs_and_vice_versa():
    by_steps = load_config("paper", ["train.steps=50"])
    assert by_steps.train.steps == 50 and by_steps.train.epochs is None
    by_epochs = load_config("mmcc_plus", ["train.epochs=2", "objective.ramp_epochs=1"])
    assert by_epochs.train.epochs == 2 and by_epochs.train.steps is None
    assert by_epochs.objective.ramp_epochs == 1 and by_epochs.objective.ramp_share is None


def test_every_setting_is_plain_yaml():
    values = to_mapping(Config())
    assert yaml.safe_load(yaml.safe_dump(values)) == values
    assert {f"train.{field.name}" for field in dataclasses.fields(TrainConfig)} <= flatten(values).keys()


def test_another_name_keeps_nothing_of_the_previous_section():
    config = load_config("mmcc_plus", ["objective.name=memdpc", "model.frame_encoder=features"])
    assert config.objective == MemDPCConfig() and config.model.frame_encoder == FeatureSettings()
    assert config.model.dims == 128 and config.train == load_config("mmcc_plus").train
    again = load_config("mmcc_plus", ["objective.name=mmcc", "model.frame_encoder.name=resnet18"])
    assert again == load_config("mmcc_plus")


def test_a_name_may_stand_for_its_section(tmp_path):
    config = load_config(write(tmp_path, "objective: memdpc\nmodel: {frame_encoder: features}"), ["objective.slots=3"])
    assert config.objective == MemDPCConfig(slots=3) and config.model.frame_encoder == FeatureSettings()
