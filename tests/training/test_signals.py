import signal

import pytest

from mmcc.training.signals import Stop


def test_ctrl_c_waits_for_the_loop():
    after = []
    with pytest.raises(KeyboardInterrupt), Stop() as stop:
        signal.raise_signal(signal.SIGINT)
        after.append(stop.asked)
        stop.act()
    assert after == [True]


def test_sigterm_does_what_it_did_before():
    class Terminated(BaseException):
        pass

    def terminate(*_):
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        with pytest.raises(Terminated), Stop() as stop:
            signal.raise_signal(signal.SIGTERM)
            assert stop.asked
            stop.act()
        assert signal.getsignal(signal.SIGTERM) is terminate
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_second_signal_acts_at_once():
    with pytest.raises(KeyboardInterrupt), Stop():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("not reached")


def test_a_signal_after_the_last_step_is_not_lost():
    with pytest.raises(KeyboardInterrupt), Stop():
        signal.raise_signal(signal.SIGINT)


def test_an_error_is_not_hidden_by_a_signal():
    with pytest.raises(ZeroDivisionError), Stop():
        signal.raise_signal(signal.SIGINT)
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_process_that_learned_of_it_from_another():
    with pytest.raises(KeyboardInterrupt), Stop() as stop:
        stop.act(signal.SIGINT)


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Stop() as stop:
            signal.raise_signal(signal.SIGINT)
            assert not stop.asked
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_without_signals_nothing_happens():
    with Stop() as stop:
        assert not stop.asked
        stop.act()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
