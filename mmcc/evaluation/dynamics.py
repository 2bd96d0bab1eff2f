"""Does what a model expects change as a video goes on? Figures that knowing the task cannot raise.

For a step's text T_j, of a step that is shown in the video:

    before_j = labelled clips that end no later than the first showing of T_j begins
    after_j  = labelled clips that begin no earlier than its last showing ends
    dyn_j    = mean over u in before_j, v in after_j of [r(u, j) > r(v, j)] + ½ [r(u, j) = r(v, j)]

where r(v, j) is the rank of T_j among all candidates, scored from clip v: the rank and not the score, so that what
raises or lowers all scores of a clip cancels. Texts without a clip on one side are left out. A video's dyn is the mean
over its texts. A query that is the same for all clips of a video, however late or close to the task, gives exactly 50.

Shapes: C clips, T texts, K videos with a dyn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmcc.metrics import share_above

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def dyn(
    ranks_CT: Floats, own_CT: Bools, video_C: Ints, start_C: Floats, end_C: Floats
) -> tuple[Floats, NDArray[np.intp]]:
    """In percent [K], and the numbers of the videos [K]; `own_CT` is the text of the step that each clip shows."""
    values, numbers = [], []
    for number in np.unique(video_C):
        here = np.flatnonzero(video_C == number)
        found = _of_video(ranks_CT[here], own_CT[here], start_C[here], end_C[here])
        if found:
            values.append(100 * np.mean(found))
            numbers.append(number)
    return np.array(values, np.float64), np.array(numbers, np.intp)


def _of_video(ranks_CT: Floats, own_CT: Bools, start_C: Floats, end_C: Floats) -> list[float]:
    """dyn_j, as a share, of every text that has one."""
    found = []
    for text in np.flatnonzero(own_CT.any(axis=0)):
        shown, rank_C = own_CT[:, text], ranks_CT[:, text]
        before, after = end_C <= start_C[shown].min(), start_C >= end_C[shown].max()
        if before.any() and after.any():
            found.append(share_above(rank_C[before], rank_C[after]))
    return found


def still_to_do(own_CT: Bools, video_C: Ints, start_C: Floats) -> Bools:
    """[C, T]: the texts whose step was not yet shown in its video when the clip began, nor is by the clip itself."""
    to_do = np.ones_like(own_CT)
    for number in np.unique(video_C):
        here = np.flatnonzero(video_C == number)
        begun_cc = start_C[here] <= start_C[here, None]  # the second clip, when the first begins
        to_do[here] = ~(begun_cc.astype(np.int64) @ own_CT[here]).astype(bool)
    return to_do


def later_above_earlier(scores_CT: Floats, later_CT: Bools, earlier_CT: Bools) -> Floats:
    """[C]: of the pairs of a later and an earlier step of the clip's task, the percentage in which the text of the
    later one scores higher, ties half; NaN where there is no pair. A text that both have is left out.

    Unlike dyn, a constant query can reach 100: one that prefers what is done late.
    """
    rows = zip(scores_CT, later_CT & ~earlier_CT, earlier_CT & ~later_CT, strict=True)
    return np.array([100 * share_above(scores[later], scores[earlier]) for scores, later, earlier in rows], np.float64)
