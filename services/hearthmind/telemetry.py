"""Logs and metrics: structured events with a request id, Prometheus series with the product's names."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request being served, carried into every log line."""

REGISTRY = CollectorRegistry()

REQUESTS = Counter(
    "hearthmind_requests_total",
    "Requests by edge, operation and outcome",
    ["edge", "operation", "outcome"],
    registry=REGISTRY,
)
DURATION = Histogram(
    "hearthmind_request_seconds",
    "Time per operation",
    ["edge", "operation"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
JOBS = Gauge("hearthmind_jobs", "Jobs by space and state", ["space", "state"], registry=REGISTRY)
NOTES = Gauge("hearthmind_notes", "Notes in the catalog", ["space"], registry=REGISTRY)
PASSAGES = Gauge("hearthmind_passages", "Passages in the catalog", ["space"], registry=REGISTRY)
PENDING_VECTORS = Gauge("hearthmind_passages_pending", "Passages not yet embedded", ["space"], registry=REGISTRY)
LAYER_UP = Gauge("hearthmind_layer_up", "1 if the layer can do its job", ["space", "layer"], registry=REGISTRY)
EMBEDDED = Counter("hearthmind_embedded_passages_total", "Passages embedded", registry=REGISTRY)


@contextmanager
def measured(edge: str, operation: str) -> Iterator[None]:
    """Count and time one operation at an edge; an exception counts as an error."""
    started = perf_counter()
    outcome = "error"
    try:
        yield
        outcome = "ok"
    finally:
        REQUESTS.labels(edge, operation, outcome).inc()
        DURATION.labels(edge, operation).observe(perf_counter() - started)


def _add_request_id(_: object, __: str, event: structlog.types.EventDict) -> structlog.types.EventDict:
    if current := request_id.get():
        event["request_id"] = current
    return event


def configure_logging(level: str, style: str) -> None:
    """Send every log record, ours and the libraries', to stderr in one form. stdout stays free for answers
    and for MCP on stdio."""
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_request_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for noisy in ("httpx", "httpcore", "huggingface_hub", "fastembed", "uvicorn.access", "mcp", "openai"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose first argument is an event in the past tense, the rest its fields."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
