/** What is kept of a streamed answer for the record is bounded, and what goes beyond the bound touches nothing within it. */
import { expect, test } from "vitest";
import type { StreamEvent } from "../../../../src/wire/neutral/neutral.ts";
import { NeutralCapture } from "../../../../src/wire/relay/capture.ts";

const MOST_CHOICES = 128;

function captured(events: readonly StreamEvent[]) {
  const capture = new NeutralCapture(1024 * 1024);
  for (const event of events) capture.take(event);
  const kept = JSON.parse(capture.json()?.toString() ?? "") as {
    candidates: { content: { text: string }[]; stop: { reason: string } }[];
  };
  return { capture, candidates: kept.candidates };
}

const said = (choice: number, text: string, reason: "stop" | "length"): StreamEvent[] => [
  { type: "begin", choice, part: 0, kind: "text" },
  { type: "delta", choice, part: 0, text },
  { type: "stop", choice, stop: { reason } },
];

test("choices beyond the bound are counted, and no choice within it is theirs", () => {
  const last = said(MOST_CHOICES - 1, "kept", "stop");
  const { capture, candidates } = captured([
    ...last,
    ...said(MOST_CHOICES, "lost", "length"),
    ...said(200, "lost", "length"),
  ]);
  expect(candidates).toHaveLength(MOST_CHOICES);
  expect(candidates.at(-1)).toMatchObject({ content: [{ text: "kept" }], stop: { reason: "stop" } });
  expect(capture.textBytes).toBe("keptlostlost".length);
});
