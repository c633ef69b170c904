"""What OpenAI's client does with long calls and conversations, at models of each upstream dialect: see openai.python.test.ts.

Arguments are the models. Prints "<model> <feature>" for each feature that works at a model, and raises where one does not.
"""

import asyncio
import os
import sys

from openai import AsyncOpenAI, BadRequestError, NotFoundError, OpenAI

ACCESS = {"base_url": os.environ["WEIR_URL"], "api_key": os.environ["WEIR_KEY"], "max_retries": 0}
SHORT = "Tell [[sim tokens=20 gap_ms=5]]"
ENDLESS = "Tell [[sim tokens=100000 gap_ms=20]]"
RUNNING = ("queued", "in_progress")
TOOL = {"type": "function", "name": "read_level", "parameters": {"type": "object", "properties": {}}, "strict": False}

client = OpenAI(**ACCESS)


def ended(made):
    while made.status in RUNNING:
        made = client.responses.retrieve(made.id)
    return made


def refused(kind, ask, **expected):
    try:
        ask()
    except kind as error:
        for name, value in expected.items():
            said = error.body["message"] if name == "message" else getattr(error, name)
            assert value in said, (name, said)
        return
    raise AssertionError("it is not refused")


def items_of(conversation):
    return list(client.conversations.items.list(conversation, order="asc"))


def roles_of(conversation):
    return [item.role for item in items_of(conversation)]


def numbers_of(events):
    return [event.sequence_number for event in events]


def said_something(made):
    """Resolves once an endless response has said something."""
    with client.responses.retrieve(made.id, stream=True) as stream:
        for event in stream:
            if event.sequence_number == 12:
                return


def background_polled(model):
    queued = client.responses.create(model=model, input=SHORT, background=True)
    assert (queued.status, queued.background, queued.output) == ("queued", True, [])
    last = ended(queued)
    assert (last.id, last.status, last.background) == (queued.id, "completed", True)
    plain = client.responses.create(model=model, input=SHORT)
    assert last.output_text == plain.output_text != ""
    assert last.usage == plain.usage


def background_streamed(model):
    events = list(client.responses.create(model=model, input=SHORT, background=True, stream=True))
    assert numbers_of(events) == list(range(len(events)))
    assert [event.type for event in events[:3]] == ["response.created", "response.queued", "response.in_progress"]
    assert events[-1].type == "response.completed"
    made = events[-1].response.id
    assert list(client.responses.retrieve(made, stream=True)) == events


def background_resumed(model):
    seen = []
    with client.responses.create(model=model, input=SHORT, background=True, stream=True) as stream:
        for event in stream:
            seen.append(event)
            if event.sequence_number == 6:
                break
    made = seen[0].response.id
    seen.extend(client.responses.retrieve(made, stream=True, starting_after=6))
    assert numbers_of(seen) == list(range(len(seen)))
    assert (seen[-1].type, seen[-1].response.id) == ("response.completed", made)
    assert seen == list(client.responses.retrieve(made, stream=True))


def background_streamed_later(model):
    queued = client.responses.create(model=model, input=SHORT, background=True)
    with client.responses.stream(response_id=queued.id, starting_after=4) as stream:
        numbers = [event.sequence_number for event in stream]
        final = stream.get_final_response()
    assert numbers[0] == 5
    assert final.output_text == client.responses.retrieve(queued.id).output_text != ""


def background_cancelled(model):
    made = client.responses.create(model=model, input=ENDLESS, background=True)
    said_something(made)
    cancelled = client.responses.cancel(made.id)
    assert (cancelled.status, cancelled.output) == ("cancelled", [])
    assert 0 < cancelled.usage.output_tokens < 1000
    assert client.responses.cancel(made.id) == cancelled == client.responses.retrieve(made.id)
    last = list(client.responses.retrieve(made.id, stream=True))[-1]
    assert (last.type, last.response.status) == ("response.failed", "cancelled")


def background_refused(model):
    def ask(**more):
        return client.responses.create(model=model, input=SHORT, **more)

    refused(BadRequestError, lambda: ask(background=True, store=False), param="/background")
    done = ended(ask(background=True))
    refused(BadRequestError, lambda: client.responses.cancel(done.id), message="Cannot cancel a completed response.")
    plain = ask()
    refused(BadRequestError, lambda: client.responses.cancel(plain.id), message="Cannot cancel a synchronous response.")
    refused(BadRequestError, lambda: client.responses.retrieve(plain.id, stream=True), param="/stream")


def background_async(model):
    async def work():
        async with AsyncOpenAI(**ACCESS) as own:
            made = await own.responses.create(model=model, input=SHORT, background=True)
            seen = [event async for event in await own.responses.retrieve(made.id, stream=True)]
            return numbers_of(seen), seen[-1].type, (await own.responses.retrieve(made.id)).status

    numbers, last, status = asyncio.run(work())
    assert (numbers, last, status) == (list(range(len(numbers))), "response.completed", "completed")


def conversation_items(model):
    made = client.conversations.create(
        metadata={"topic": "x"}, items=[{"type": "message", "role": "user", "content": "Hello!"}]
    )
    assert client.conversations.retrieve(made.id).metadata == {"topic": "x"}
    assert client.conversations.update(made.id, metadata={"topic": "y"}).metadata == {"topic": "y"}
    added = client.conversations.items.create(
        made.id, items=[{"role": "user", "content": "Two"}, {"role": "assistant", "content": "Three"}]
    )
    assert [item.type for item in added.data] == ["message", "message"]
    paged = list(client.conversations.items.list(made.id, order="asc", limit=2))
    assert [item.role for item in paged] == ["user", "user", "assistant"]
    first = client.conversations.items.retrieve(paged[0].id, conversation_id=made.id)
    assert first.status == "completed"
    assert client.conversations.items.delete(first.id, conversation_id=made.id).id == made.id
    # What is left of them is what the model is told.
    answer = client.responses.create(model=model, input="And?", conversation=made.id)
    given = list(client.responses.input_items.list(answer.id, order="asc"))
    assert [item.content[0].text for item in given] == ["Two", "Three", "And?"]
    assert client.conversations.delete(made.id).deleted
    gone = f"Conversation with id '{made.id}' not found."
    refused(NotFoundError, lambda: client.conversations.retrieve(made.id), message=gone)
    refused(
        NotFoundError, lambda: client.responses.create(model=model, input="x", conversation=made.id), message=gone
    )


def conversation_turns(model):
    made = client.conversations.create(items=[{"role": "user", "content": "I am Ada."}])
    first = client.responses.create(model=model, input="Who am I?", conversation=made.id)
    assert first.conversation.id == made.id
    with client.responses.stream(model=model, input="And you?", conversation=made.id) as stream:
        final = stream.get_final_response()
    assert (final.conversation.id, final.status) == (made.id, "completed")
    items = items_of(made.id)
    assert [item.role for item in items] == ["user", "user", "assistant", "user", "assistant"]
    assert (items[2].content[0].text, items[4].content[0].text) == (first.output_text, final.output_text)


def conversation_tools(model):
    made = client.conversations.create()
    forced = {"type": "function", "name": "read_level"}
    asked = client.responses.create(
        model=model, conversation=made.id, input="Read the level.", tools=[TOOL], tool_choice=forced
    )
    call = next(item for item in asked.output if item.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "1.4 metres"}
    client.responses.create(model=model, conversation=made.id, input=[result], tools=[TOOL], tool_choice="none")
    types = [item.type for item in items_of(made.id) if item.type != "reasoning"]
    assert types == ["message", "function_call", "function_call_output", "message"]


def conversation_references(model):
    made = client.conversations.create(items=[{"role": "user", "content": "PLUM"}, {"role": "user", "content": "PEAR"}])
    plum, pear = items_of(made.id)
    input = [{"type": "item_reference", "id": plum.id}, {"type": "item_reference", "id": pear.id}]
    answer = client.responses.create(model=model, input=input)
    given = list(client.responses.input_items.list(answer.id, order="asc"))
    assert [item.content[0].text for item in given] == ["PLUM", "PEAR"]
    client.conversations.items.delete(pear.id, conversation_id=made.id)
    refused(NotFoundError, lambda: client.responses.create(model=model, input=input), param="/input/1")


def conversation_without_storing(model):
    made = client.conversations.create(items=[{"role": "user", "content": "I am Ada."}])
    answer = client.responses.create(model=model, input="Who am I?", conversation=made.id, store=False)
    assert answer.model_extra["svc"]["warnings"].count("conversation_not_extended: store") == 1
    assert roles_of(made.id) == ["user"]


def conversation_in_background(model):
    made = client.conversations.create()
    polled = ended(client.responses.create(model=model, input=SHORT, conversation=made.id, background=True))
    assert (polled.status, polled.conversation.id) == ("completed", made.id)
    events = list(
        client.responses.create(model=model, input=SHORT, conversation=made.id, background=True, stream=True)
    )
    assert events[-1].type == "response.completed"
    assert roles_of(made.id) == ["user", "assistant"] * 2
    assert items_of(made.id)[-1].id == events[-1].response.output[-1].id
    running = client.responses.create(model=model, input=ENDLESS, conversation=made.id, background=True)
    refused(
        BadRequestError,
        lambda: client.responses.create(model=model, input="x", conversation=made.id),
        code="conversation_locked",
    )
    client.responses.cancel(running.id)
    assert roles_of(made.id) == ["user", "assistant"] * 2


FEATURES = (
    background_polled,
    background_streamed,
    background_resumed,
    background_streamed_later,
    background_cancelled,
    background_refused,
    background_async,
    conversation_items,
    conversation_turns,
    conversation_tools,
    conversation_references,
    conversation_without_storing,
    conversation_in_background,
)

for model in sys.argv[1:]:
    for feature in FEATURES:
        feature(model)
        print(model, feature.__name__, flush=True)
