"""Recall of conversations by the protocol of the evaluation data, with the same settings as for notes."""

import pytest

from tests.bench.locomo.measure import load, log_conversation, measure
from tests.bench.shared import measured_house, shared_data


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_evidence_turns_are_recalled(capsys: pytest.CaptureFixture[str]) -> None:
    data = shared_data()
    if data is None:
        pytest.skip("SKIPPED LOUDLY: LoCoMo is not at hand; set HEARTHMIND_TEST_SHARED to run this")
    samples = load(data)
    with measured_house() as house:
        for sample in samples:
            log_conversation(house, sample)
        overall, _ = measure(house, samples)
    with capsys.disabled():
        print(f"\nLoCoMo development half: {overall}")
    assert overall.questions == 760
    assert overall.at[5] >= 0.60
    assert overall.at[10] >= 0.70
