"""From the values of each query to results: aggregation, confidence intervals, bootstrap resamples.

Everything runs over the queries in ascending byte order of their ids, so the same input and seed give the same bytes.
"""

from rankeval_cli.inference.intervals import interval
from rankeval_cli.inference.statistic import aggregate
from rankeval_cli.inference.summary import summarize

__all__ = ["aggregate", "interval", "summarize"]
