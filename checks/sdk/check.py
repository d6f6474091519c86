#!/usr/bin/env python3
"""Asks the official SDKs of the providers whether they know what we write, and gives us what they know to read.

    python3 -m venv DIR && DIR/bin/pip install -r checks/sdk/requirements.txt && DIR/bin/python checks/sdk/check.py

Each request that `cargo run --example encodings` writes is held against the SDK's own types, and any field that these do
not have is an error. The other way, answers built by the SDK's response types go to `encodings -- --read`.
"""

import json
import subprocess
import sys
import types
import typing

import anthropic
import openai
import pydantic
import typing_extensions
from anthropic.types import Message, message_create_params
from google import genai
from google.genai import types as gemini
from openai.types.chat import ChatCompletion, completion_create_params

# Fields that the SDK does not know. DeepSeek wants its thoughts back. Anthropic's SDK 2.x asks for the API's version of
# 2026-10-21, which refuses a temperature; we ask for that of 2023-06-01, which takes one for the older models, and for the
# newer ones the catalogue (`no_temperature`) leaves it out.
OTHERS = {"deepseek": {"reasoning_content"}, "anthropic": {"temperature"}}


# What stands below these is the user's own: schemas, arguments and results.
FREE = {"parameters", "input_schema", "schema", "parametersJsonSchema", "responseJsonSchema", "args", "input", "response"}


def unions(kind):
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def trouble(kind, value, path, allowed):
    """What of the value the type does not know; none when it fits. TypedDicts are closed, whatever pydantic thinks."""
    kind, args = unwrapped(kind)
    if kind is typing.Any or kind is object:
        return None
    if typing_extensions.is_typeddict(kind):
        if not isinstance(value, dict):
            return f"{path}: no object"
        hints = typing_extensions.get_type_hints(kind)
        for name, one in value.items():
            if name in allowed:
                continue
            if name not in hints:
                return f"{path}: `{name}` is unknown to {kind.__name__}"
            found = trouble(hints[name], one, f"{path}.{name}", allowed)
            if found:
                return found
        missing = {name for name in kind.__required_keys__ if name not in value}
        return f"{path}: lacks {missing} of {kind.__name__}" if missing else None
    options = unions(kind)
    if len(options) > 1:
        found = [trouble(option, value, path, allowed) for option in options]
        return None if None in found else "; ".join(text for text in found if text)[:2000]
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return None if value in typing.get_args(kind) else f"{path}: {value!r} is none of {typing.get_args(kind)}"
    if origin is dict:
        return None if isinstance(value, dict) else f"{path}: no object"
    if origin is not None and isinstance(value, list) and args:
        found = [trouble(args[0], one, f"{path}[{at}]", allowed) for at, one in enumerate(value)]
        return next((text for text in found if text), None)
    if origin is not None:
        return f"{path}: no list"
    if kind is float and isinstance(value, int):
        return None
    if isinstance(kind, type) and kind in (str, int, bool, float, type(None)):
        fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        return None if fits else f"{path}: {value!r} is no {kind.__name__}"
    if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
        return f"{path}: no {kind.__name__}"
    return f"{path}: no {kind}"


WRAPPERS = (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired)


def unwrapped(kind):
    while typing.get_origin(kind) in WRAPPERS:
        kind = typing.get_args(kind)[0]
    return kind, typing.get_args(kind)


class Strict(pydantic.BaseModel):
    """Gemini's REST body by the SDK's own types."""

    model_config = pydantic.ConfigDict(extra="forbid")
    contents: list[gemini.Content]
    systemInstruction: typing.Optional[gemini.Content] = None
    tools: typing.Optional[list[gemini.Tool]] = None
    toolConfig: typing.Optional[gemini.ToolConfig] = None
    generationConfig: typing.Optional[gemini.GenerationConfig] = None


def judge(line):
    wire, body, allowed = line["wire"], line["body"], OTHERS.get(line["provider"], set())
    streams = body.get("stream", False)
    if wire == "openai":
        kind = completion_create_params.CompletionCreateParamsStreaming if streams else completion_create_params.CompletionCreateParamsNonStreaming
        return trouble(kind, body, "$", allowed)
    if wire == "anthropic":
        kind = message_create_params.MessageCreateParamsStreaming if streams else message_create_params.MessageCreateParamsNonStreaming
        return trouble(kind, body, "$", allowed)
    try:
        Strict.model_validate(body)
    except pydantic.ValidationError as error:
        return str(error)
    return None


def spoilt(value, path="$"):
    """The value with a field that nobody has, once in each of its objects, and where that is."""
    if isinstance(value, dict):
        yield path, {**value, "no_such_field": 1}
        for name, one in value.items():
            if name not in FREE:
                for where, other in spoilt(one, f"{path}.{name}"):
                    yield where, {**value, name: other}
    elif isinstance(value, list):
        for at, one in enumerate(value):
            for where, other in spoilt(one, f"{path}[]"):
                yield where, [*value[:at], other, *value[at + 1:]]


def blind(lines):
    """The places at which an unknown field is not found, and how many places were tried."""
    seen, found = {}, set()
    for line in lines:
        for path, body in spoilt(line["body"]):
            # The same place may hold a text here and a call there.
            kind = (line["wire"], path)
            if seen.setdefault(kind, 0) < 12:
                seen[kind] += 1
                if not judge({**line, "body": body}):
                    found.add(f"{line['wire']} {path}")
    return sorted(found), len(seen), sum(seen.values())


def answers():
    """Answers as the SDK's types write them, with what must be found in each."""
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    def chat(message, finish):
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        return ChatCompletion.model_validate(body).model_dump(mode="json", exclude_none=False)
    def message(content, stop):
        body = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop,
                "usage": {"input_tokens": 5, "output_tokens": 7}}
        return Message.model_validate(body).model_dump(mode="json", exclude_none=False)
    def generated(parts, finish):
        body = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}],
                "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7}, "responseId": "r"}
        answer = gemini.GenerateContentResponse.model_validate(body)
        return json.loads(answer.model_dump_json(by_alias=True, exclude_none=False))
    function = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    calls = [{"id": "c1", "name": "f", "arguments": '{"a":1}'}]
    told = {"input": 5, "output": 7}
    return [
        ("openai", "words", chat({"content": "hi"}, "stop"), {"text": "hi", "finish": "stop", **told}),
        ("openai", "calls", chat({"content": None, "tool_calls": [function]}, "tool_calls"), {"calls": calls, "finish": "tool_calls", **told}),
        ("openai", "refusal", chat({"content": None, "refusal": "no"}, "stop"), {"failure": True}),
        ("anthropic", "words", message([{"type": "text", "text": "hi"}], "end_turn"), {"text": "hi", "finish": "stop", **told}),
        ("anthropic", "calls", message([
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "redacted_thinking", "data": "aGlk"},
            {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
        ], "tool_use"), {"calls": calls, "reasoning": "hm", "signatures": ["c2ln", "aGlk"], "finish": "tool_calls", **told}),
        ("gemini", "words", generated([{"text": "hi"}], "STOP"), {"text": "hi", "finish": "stop", **told}),
        ("gemini", "calls", generated([
            {"text": "hm", "thought": True}, {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
        ], "STOP"), {"calls": calls, "reasoning": "hm", "signatures": ["c2ln"], "finish": "tool_calls", **told}),
    ]


def encodings(*arguments, **more):
    run = ["cargo", "run", "--quiet", "--locked", "--example", "encodings", "--", *arguments]
    done = subprocess.run(sys.argv[1:] + list(arguments) if sys.argv[1:] else run, stdout=subprocess.PIPE, check=True, text=True, **more)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    wrong, counts = 0, {}
    lines = encodings()
    # Whoever knows everything proves nothing: a field that nobody has must be found, wherever it stands.
    unseen, places, tried = blind(lines)
    for place in unseen:
        wrong += 1
        print(f"{place}: an unknown field is not found there")
    for line in lines:
        counts[line["wire"]] = counts.get(line["wire"], 0) + 1
        if found := judge(line):
            wrong += 1
            print(f"{line['provider']} {line['model']}, {line['what']}: {found}")
    given = answers()
    written = "".join(json.dumps({"wire": wire, "what": what, "body": body}) + "\n" for wire, what, body, _ in given)
    for (wire, what, _, wanted), found in zip(given, encodings("--read", input=written), strict=True):
        missing = {name: value for name, value in wanted.items() if found.get(name) != value}
        if missing:
            wrong += 1
            print(f"{wire} {what}: wanted {missing}, found {found}")
    versions = f"openai {openai.__version__}, anthropic {anthropic.__version__}, google-genai {genai.__version__}"
    print(f"{versions}: requests {counts}, answers {len(given)}, "
          f"places of a field that nobody has {places} (tried {tried} times), wrong {wrong}")
    return 1 if wrong else 0


sys.exit(main())
