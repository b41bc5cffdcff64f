"""Documents behind the last one of the pool must not matter to a measure whose record says so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import kernel_value
from naive import Query
from strategies import metrics, queries

from rankeval_cli.measures.registry import MEASURES


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_tail_matters_only_where_it_is_declared(measure, data):
    metric = data.draw(metrics(measure))
    query = data.draw(queries())
    if metric.measure.needs_tail(metric):
        return
    longer = Query([*query.ranked, None, None, None], query.unretrieved, [*query.scores, -1.0, -1.0, -2.0])
    assert kernel_value(metric, longer) == kernel_value(metric, query)
