"""Everything that errs over HTTP answers with a problem document (RFC 9457)."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hearthmind.errors import HearthmindError, InvalidInput, MisdirectedHost, NotAllowed, NotAuthenticated, TooLarge
from hearthmind.gateway.explain import explained, words_of
from hearthmind.telemetry import get_logger, request_id

MEDIA_TYPE = "application/problem+json"
_TITLES = {404: "not-found", 405: "method-not-allowed", 413: TooLarge.slug, 421: MisdirectedHost.slug}

log = get_logger(__name__)


class OriginNotAllowed(NotAllowed):
    slug = "origin-not-allowed"


class InvalidJson(HearthmindError):
    status = 400
    slug = "invalid-json"


class Problem(BaseModel):
    """Why a request failed (RFC 9457). Further members depend on the type."""

    type: str = Field(description="Stable name of the situation, `urn:hearthmind:<name>`.")
    title: str
    status: int
    detail: str = Field(description="What happened and what to do about it.")
    instance: str = Field(description="The request's id, as in the logs and in X-Request-Id.")


def problem(
    status: int,
    slug: str,
    detail: str,
    extra: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document; `extra` members never replace the standard ones."""
    body = {
        **(extra or {}),
        "type": f"urn:hearthmind:{slug}",
        "title": slug.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "instance": request_id.get(),
    }
    text = json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace")
    return Response(text, status, headers, MEDIA_TYPE)


def problem_of(error: HearthmindError) -> Response:
    headers = {}
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="hearthmind"'
    if error.status == 412 and "version" in error.extra:
        headers["ETag"] = f'"{error.extra["version"]}"'
    return problem(error.status, error.slug, error.message, error.extra, headers)


def unexpected() -> Response:
    return problem(
        500,
        HearthmindError.slug,
        "Something went wrong inside Hearthmind; nothing is known of your part in it. The log names this request's id.",
    )


def answer_with_problems(app: FastAPI) -> None:
    """Turn every exception that reaches the app's routes into a problem document."""

    @app.exception_handler(HearthmindError)
    def _(_: Request, error: HearthmindError) -> Response:
        if error.status >= 500:
            log.warning("request failed", problem=error.slug, detail=error.message)
        return problem_of(error)

    @app.exception_handler(RequestValidationError)
    def _(_: Request, error: RequestValidationError) -> Response:
        errors = [{**each, "loc": tuple(each["loc"])[1:]} for each in error.errors()]
        if errors and errors[0]["type"] == "json_invalid":
            return problem_of(InvalidJson("The body is not valid JSON.", position=errors[0]["loc"][0]))
        lines = explained(errors)
        return problem(422, InvalidInput.slug, words_of(lines), {"errors": lines})

    @app.exception_handler(HTTPException)
    def _(_: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        slug = _TITLES.get(error.status_code, status.phrase.lower().replace(" ", "-"))
        if error.status_code == 400 and "parsing the body" in str(error.detail):
            return problem_of(InvalidJson("The body is not JSON in UTF-8, or is nested too deeply."))
        detail = status.description or status.phrase if error.detail == status.phrase else str(error.detail)
        return problem(error.status_code, slug, detail, None, error.headers)
