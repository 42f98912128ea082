"""Bulk jobs on a cluster of Ray: `pip install './client/python[ray]'`.

    import attend.ray, ray

    server = attend.ray.Server("/models/en-de", threads=16)
    german = attend.ray.transform(ray.data.read_parquet("s3://corpus/"),
                                  attend.ray.Translate, server=server)
    attend.ray.transform_files(files, "s3://german/", attend.ray.Translate,
                               server=server)

docs/bulk.md of the repository describes it.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from attend._stages import (
    Embed, Generate, Server, Stage, Translate, addresses)

if TYPE_CHECKING:
    from attend._parts import Part

__all__ = ["Embed", "Generate", "Server", "Stage", "Summary", "Translate",
           "transform", "transform_files"]

LOG = logging.getLogger("attend")
BATCH = 1024  # rows of a batch
# Batches of an actor at the same time: while the last calls of one end, those
# of the other keep the server busy.
BATCHES = 2
# Of an actor whose server is elsewhere: it waits for most of its time.
CPUS_OF_A_CLIENT = 0.5


def transform(dataset: Any, stage: type[Stage], *,
              server: str | Sequence[str] | Server | None = None,
              actors: int | None = None, rows_per_task: int = 8192,
              **arguments: Any) -> Any:
    """A ray.data.Dataset with the column of a stage: a row for each row, in
    their order. It is computed when it is read, and no faster than that.

    server, arguments: of the stage.
    actors: how many there are. Default: as many as the CPUs of the cluster have
        room for if each has a Server, else one for each node.
    rows_per_task: what is computed again when an actor dies.
    """
    _check(stage, arguments)
    server, actors, cpus = _placed(addresses(server), actors)
    if rows_per_task < 1:
        raise ValueError(f"rows_per_task is {rows_per_task}, must be at least "
                         "1")
    dataset.context.execution_options.preserve_order = True
    return dataset.repartition(
        target_num_rows_per_block=rows_per_task).map_batches(
        stage, fn_constructor_kwargs={**arguments, "server": server},
        batch_format="pyarrow", batch_size=min(BATCH, rows_per_task),
        **_pool(actors, cpus))


@dataclasses.dataclass(frozen=True)
class Summary:
    parts: int  # computed now
    parts_before: int  # were there already
    rows: int  # of those computed now


def transform_files(inputs: Iterable[str], folder: str, stage: type[Stage], *,
                    server: str | Sequence[str] | Server | None = None,
                    actors: int | None = None, column: str = "text",
                    **arguments: Any) -> Summary:
    """Computes a Parquet file in `folder` for each input, and returns when all
    are there. Those that are there already are left alone: a job that was
    ended in the middle goes on with the same call.

    inputs: paths or URIs: NAME.parquet, NAME.jsonl, NAME.txt, and compressed
        ones as NAME.txt.gz. A file is computed by one actor, as a whole.
    folder: a path or URI that every node can reach.
    The others are those of transform().
    """
    import ray

    from attend import _parts, _tables

    _check(stage, {**arguments, "column": column})
    plan = _parts.plan(inputs, folder, {
        **_settings(stage, server, arguments), "column": column})
    LOG.info("%s: %d parts are there, %d are missing", folder, plan.done,
             len(plan.missing))
    rows = 0
    if plan.missing:
        _tables.check_columns(plan.missing[0].source, column, stage.columns(
            arguments.get("output"), arguments.get("errors", "raise")))
        server, actors, cpus = _placed(addresses(server), actors)
        _parts.begin(plan)
        parts = ray.data.from_items(
            [dataclasses.asdict(part) for part in plan.missing],
            override_num_blocks=len(plan.missing))
        done = parts.map_batches(
            _Parts, fn_constructor_args=[stage], fn_constructor_kwargs={
                **arguments, "column": column, "server": server},
            batch_size=1, batch_format="numpy", **_pool(actors, cpus))
        rows = sum(row["rows"] for row in done.iter_rows())
    _parts.clean(folder)
    return Summary(len(plan.missing), plan.done, rows)


class _Parts:
    """Computes files. Threads of an actor have a file each."""

    def __init__(self, stage: type[Stage], **arguments: Any) -> None:
        self._stage = stage(**arguments)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        from attend import _parts

        part = _parts.Part(*(str(batch[name][0])
                             for name in ("source", "target")))
        return {"rows": [_convert(part, self._stage)]}


def _convert(part: Part, stage: Stage) -> int:
    from attend import _parts

    try:
        return _parts.convert(part, stage.column, stage.stream)
    except Exception:
        LOG.error("%s", part.source)
        raise


def _check(stage: type[Stage], arguments: Mapping[str, Any]) -> None:
    """A stage with another __init__ has arguments of its own."""
    if getattr(stage, "__init__") is Stage.__init__:  # as mypy wants it
        stage.check(**arguments)


def _settings(stage: type[Stage], server: Any,
              arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What results depend on, as far as it is known here."""
    known = {name: value for name, value in arguments.items() if name not in
             ("inputs_per_call", "calls", "client", "timeout", "metadata",
              "traceparent")}
    model = (arguments.get("client") or {}).get("model")
    if model:
        known.setdefault("model", model)
    if isinstance(server, Server):
        known["served"] = [server.model, *server.flags]
    return {**known, "stage": stage.__name__}


def _placed(server: Any, actors: int | None) -> tuple[Any, int, float]:
    """The server with its threads, the number of actors, and the CPUs that each
    of them reserves. Of each node one CPU is left to what reads, writes and
    feeds the servers: without any, the job would wait for ever."""
    import ray

    if actors is not None and actors < 1:
        raise ValueError(f"actors is {actors}, must be at least 1")
    if not ray.is_initialized():
        ray.init()
    nodes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes()
             if node["Alive"]]
    nodes = [cpus for cpus in nodes if cpus]
    if not isinstance(server, Server):
        return server, actors or max(1, len(nodes)), CPUS_OF_A_CLIENT
    threads = server.threads or max(1, min(nodes, default=1) - 1)
    room = sum((cpus - 1) // threads for cpus in nodes)
    if not room and not actors:
        raise ValueError(
            f"threads is {threads}, but the largest node has "
            f"{max(nodes, default=0)} CPUs: one of them is not for servers")
    return (dataclasses.replace(server, threads=threads), actors or room,
            threads)


def _pool(actors: int, cpus: float) -> dict[str, Any]:
    import ray

    return {
        "compute": ray.data.ActorPoolStrategy(
            size=actors, max_concurrent_calls_per_actor=BATCHES,
            enable_true_multi_threading=True),
        "num_cpus": cpus}
