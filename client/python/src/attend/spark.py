"""Functions of columns for Spark: `pip install './client/python[spark]'`.

    import attend.spark

    translate = attend.spark.translate("10.0.0.1:50051,10.0.0.2:50051")
    frame = frame.withColumn("german", translate("text"))

docs/bulk.md of the repository describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Sequence

from attend._stages import Embed, Generate, Stage, Translate, addresses

if TYPE_CHECKING:
    import pandas

__all__ = ["embed", "generate", "translate"]


def translate(target: str | Sequence[str] | None = None,
              **arguments: Any) -> Any:
    """A pandas_udf: documents to their translations. `target` has addresses,
    `arguments` are those of attend.ray.Stage. With errors="column" the result
    is a struct: `result`, `error`."""
    return _udf(Translate, "string", target, arguments)


def generate(target: str | Sequence[str] | None = None,
             **arguments: Any) -> Any:
    """The same: prompts or sentences to what is generated."""
    return _udf(Generate, "string", target, arguments)


def embed(target: str | Sequence[str] | None = None, **arguments: Any) -> Any:
    """The same: texts to vectors, array<float>."""
    return _udf(Embed, "array<float>", target, arguments)


def rows_of(stage: Stage,
            batches: Iterator[pandas.Series]) -> Iterator[Any]:
    """What the function does, without Spark: a Series of results for each
    Series of texts, or a DataFrame with errors, too."""
    import pandas

    def table(series: pandas.Series) -> dict[str, Any]:
        return {stage.column: [None if null else value for value, null in
                               zip(series, series.isna())]}

    for made in stage.stream(map(table, batches)):
        results = pandas.Series(list(made[stage.output]), dtype=object)
        if stage.error_column is None:
            yield results
        else:
            errors = pandas.Series(list(made[stage.error_column]),
                                   dtype=object)
            yield pandas.DataFrame({"result": results, "error": errors})


def _udf(stage: type[Stage], kind: str, target: str | Sequence[str] | None,
         arguments: dict[str, Any]) -> Any:
    import pandas
    from pyspark.sql.functions import pandas_udf

    stage.check(**arguments)
    target = addresses(target)
    with_errors = arguments.get("errors") == "column"

    def compute(batches: Any) -> Any:
        with stage(target, **arguments) as opened:
            yield from rows_of(opened, batches)

    # Spark learns from the types what it is given.
    made: Any = pandas.DataFrame if with_errors else pandas.Series
    compute.__annotations__ = {"batches": Iterator[pandas.Series],
                               "return": Iterator[made]}
    return pandas_udf(
        compute, f"result {kind}, error string" if with_errors else kind)
