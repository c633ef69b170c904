/** The editor of policies: where a cursor stands, what is offered there, and what the keys write. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  completionsAt,
  helpAt,
  type Names,
  namesWanted,
} from "../../../console/pages/policies/editor/completion.ts";
import { placeAt } from "../../../console/pages/policies/editor/place.ts";
import type { Schema } from "../../../console/pages/policies/editor/schema.ts";
import { readPolicy } from "../../../src/routing/language/policy-reading.ts";

const SCHEMA = JSON.parse(
  readFileSync(new URL("../../../src/routing/language/policy.schema.json", import.meta.url), "utf8"),
) as Schema;

const known = (...names: string[]) => names.map((name) => ({ name, about: `about ${name}` }));
const NAMES: Names = {
  models: known("acme/one", "acme/two"),
  providers: known("north", "south"),
  endpoints: known("ep_north_one_eu", "ep_south_one_us"),
  regions: known("eu", "us"),
  projects: known("checkout"),
};

/** @param marked with | where the cursor is */
function placeIn(marked: string) {
  const cursor = marked.indexOf("|");
  return placeAt(marked.replace("|", ""), cursor);
}
const pathIn = (marked: string): string | undefined => {
  const place = placeIn(marked);
  return place && `${place.slot} ${place.path.join(".")}`;
};
function offeredIn(marked: string) {
  const place = placeIn(marked);
  return place === undefined ? [] : completionsAt(place, SCHEMA, NAMES);
}
const labelsIn = (marked: string): string[] => offeredIn(marked).map(({ label }) => label);

/** The text once an offered word is taken, with | where the cursor is then. */
function taken(marked: string, label: string): string {
  const place = placeIn(marked);
  const text = marked.replace("|", "");
  const offered = offeredIn(marked).find((each) => each.label === label);
  if (place === undefined || offered === undefined) throw new Error(`"${label}" is not offered`);
  const { insert, behind } = offered;
  const at = insert.length - behind;
  return `${text.slice(0, place.from)}${insert.slice(0, at)}|${insert.slice(at)}${text.slice(place.to)}`;
}

describe("where a cursor stands", () => {
  test.each([
    ["|", "key "],
    ["ver|sion: 1", "key "],
    ["version: 1\n|", "key "],
    ["version: |", "value version"],
    ["sort:|", "value sort"],
    ["defaults:\n  |", "node defaults"],
    ["defaults:\n  sort: price\n  |", "key defaults"],
    ["defaults:\n  sort: price\n|", "key "],
    ["defaults:\n  sort: pr|\n  affinity: none\n", "value defaults.sort"],
    ["defaults: |", "value defaults"],
    ["defaults: {|", "key defaults"],
    ["defaults: { sort: price, |", "key defaults"],
    ["defaults: { sort: |", "value defaults.sort"],
    ["defaults: { only: [a, |", "node defaults.only.[]"],
    ["defaults: { only: [a], |", "key defaults"],
    ["defaults: { require: { regions: [eu] }, weights: {|", "key defaults.weights"],
    ["defaults: {\n  sort: price,\n  |", "key defaults"],
    ["rules:\n  - |", "node rules.[]"],
    ["rules:\n- |", "node rules.[]"],
    ["rules:\n- name: a\n  |", "key rules.[]"],
    ["rules:\n  - name: a\n    |", "key rules.[]"],
    ["rules:\n  - name: a\n    match:\n      |", "node rules.[].match"],
    ["rules:\n  - name: a\n  |", "node rules"],
    ["rules:\n- name: a\n|", "key "],
    ["rules:\n  - match: { model: |", "value rules.[].match.model"],
    ["rules:\n  - match:\n      model:\n        - |", "node rules.[].match.model.[]"],
    ["rules:\n  - then: {}\n  - then:\n      deny: |", "value rules.[].then.deny"],
    ['"defaults":\n  "so|', "node defaults"],
    ["defaults:\n  # a note\n\n  sort: |", "value defaults.sort"],
    ["defaults:\n  deny:\n    message: |\n", "value defaults.deny.message"],
    ["defaults:\n  deny:\n    message: >-\n      some text\n    |", "key defaults.deny"],
    ["x: 'it''s # no comment, [not: a list'\ndefaults:\n  |", "node defaults"],
    ['{ "version": 1, "defaults": { "sort": |', "value defaults.sort"],
  ])("%j: %s", (text, path) => {
    expect(pathIn(text)).toBe(path);
  });

  test.each([
    "# so|",
    "sort: price # pr|",
    "defaults: { sort: price, # on|",
    "defaults:\n  deny:\n    message: >-\n      so|",
    "x: 'a text\n  of two li|",
    "sort: price\n  mor|",
  ])("%j: nothing is offered", (text) => {
    expect(placeIn(text)).toBeUndefined();
  });

  test("the word reaches to its end behind the cursor, and its colon is seen", () => {
    expect(placeIn("version: 1\nso|rt: price\n")).toMatchObject({
      typed: "so",
      from: 11,
      to: 15,
      hasColon: true,
    });
    expect(placeIn("sort: pri|ce")).toMatchObject({ typed: "pri", from: 6, to: 11, hasColon: false });
  });

  test("any text, cut anywhere, has a place or none", () => {
    const text = readFileSync(new URL("../../../docs/policies.md", import.meta.url), "utf8");
    for (let at = 0; at < text.length; at += 7) placeAt(text, at);
  });
});

describe("what is offered", () => {
  test("keys of the document, what it needs first", () => {
    expect(labelsIn("|")).toEqual(["version", "policy", "sort", "defaults", "rules"]);
    expect(offeredIn("|")[0]).toMatchObject({
      detail: "required",
      about: "Version of this grammar. Takes 1",
    });
  });

  test("no key twice, wherever the other is", () => {
    expect(labelsIn("version: 1\n|\nrules: []\n")).toEqual(["policy", "sort", "defaults"]);
    expect(labelsIn("rules:\n  - name: a\n    |\n    then: {}\n")).toEqual(["match"]);
    expect(labelsIn("defaults: { require: { zdr: true, |")).toEqual(["no_train", "regions", "max_price"]);
  });

  test("what begins with the letters comes before what has them", () => {
    expect(labelsIn("defaults:\n  o|")).toEqual([
      "order",
      "only",
      "on_disconnect",
      "sort",
      "ignore",
      "timeout_ms",
      "shadow",
    ]);
  });

  test("values of the schema", () => {
    expect(labelsIn("sort: |")).toEqual(["price", "latency", "throughput", "balanced"]);
    expect(labelsIn("sort: b|")).toEqual(["balanced"]);
    expect(labelsIn("defaults:\n  fallbacks: |")).toEqual(["true", "false"]);
    expect(labelsIn("defaults:\n  canary: |")).toEqual(["false"]);
    expect(offeredIn("defaults: { shadow: { bill: |")[0]).toMatchObject({
      label: "platform",
      detail: "unless given",
    });
    expect(labelsIn("defaults:\n  max_attempts: |")).toEqual([]);
  });

  test("names of the catalog and the org where a key takes them", () => {
    expect(labelsIn("defaults:\n  only: [|")).toEqual([
      "north",
      "south",
      "ep_north_one_eu",
      "ep_south_one_us",
    ]);
    expect(labelsIn("defaults:\n  canary:\n    endpoint: us|")).toEqual(["ep_south_one_us"]);
    expect(labelsIn("rules:\n  - match: { model: |")).toEqual(["acme/one", "acme/two"]);
    expect(labelsIn("rules:\n  - match:\n      project:\n        - |")).toEqual(["checkout"]);
    expect(labelsIn("defaults: { require: { regions: [eu, |")).toEqual(["eu", "us"]);
    expect(labelsIn("defaults:\n  weights:\n    ep_north_one_eu: 1\n    |")).toEqual(["ep_south_one_us"]);
    expect(namesWanted(placeIn("rules:\n  - match: { key: |"))).toEqual(["keys"]);
    expect(namesWanted(placeIn("sort: |"))).toEqual([]);
    expect(namesWanted(undefined)).toEqual([]);
  });
});

describe("what is written", () => {
  test.each([
    ["|", "version", "version: |"],
    ["|", "defaults", "defaults:\n  |"],
    ["|", "rules", "rules:\n  - |"],
    ["rules:\n  - |", "match", "rules:\n  - match:\n      |"],
    ["rules:\n  |", "name", "rules:\n  - name: |"],
    ["rules:\n  |", "then", "rules:\n  - then:\n      |"],
    ["defaults:\n  ord|", "order", "defaults:\n  order: [|]"],
    ["defaults: {|}", "require", "defaults: {require: { | }}"],
    ["so|rt: price", "sort", "sort|: price"],
    ["sort:|", "price", "sort: price|"],
    ["sort: pri|ce", "price", "sort: price|"],
    ["defaults:\n  only: |", "north", "defaults:\n  only: [north|]"],
    ["defaults:\n  only:\n    |", "north", "defaults:\n  only:\n    - north|"],
    ["defaults:\n  weights:\n    |", "ep_north_one_eu", "defaults:\n  weights:\n    ep_north_one_eu: |"],
    ['rules:\n  - match: { model: "ac|" }', "acme/one", 'rules:\n  - match: { model: "acme/one|" }'],
  ])("%j, %s: %j", (text, label, after) => {
    const shown = taken(text, label);
    expect(shown.replace("[north|]", "[north]|")).toBe(after.replace("[north|]", "[north]|"));
  });

  test("a whole policy by what is offered, which is valid", () => {
    let text = "version: 1\n|";
    text = taken(text, "rules");
    text = taken(text, "name").replace("|", "cheap\n    |");
    text = taken(text, "match");
    text = taken(text, "project");
    text = taken(text, "checkout").replace("|", "\n    |");
    text = taken(text, "then");
    text = taken(text, "sort");
    text = taken(text, "price").replace("|", "\n      |");
    text = taken(text, "require");
    text = taken(text, "regions");
    text = taken(text, "eu").replace("|", "");
    expect(text).toBe(
      "version: 1\nrules:\n  - name: cheap\n    match:\n      project: checkout\n    then:\n      sort: price\n" +
        "      require:\n        regions: [eu]",
    );
    expect(readPolicy(text, {}).ok).toBe(true);
  });
});

test("help says what the word at the cursor is, and what it takes", () => {
  const helpIn = (marked: string) => {
    const place = placeIn(marked);
    if (place === undefined) return undefined;
    return helpAt(place, SCHEMA, marked.replace("|", "").slice(place.from, place.to));
  };
  expect(helpIn("rules:\n  - then:\n      sort: |")).toEqual({
    path: "rules[].then.sort",
    about: "How endpoints are ordered; balanced unless given.",
    takes: "one of price, latency, throughput, balanced",
  });
  expect(helpIn("defaults:\n  max_att|empts: 3")).toMatchObject({
    path: "defaults.max_attempts",
    takes: "a whole number, 1 to 8",
  });
  expect(helpIn("defaults:\n  deny: |")).toMatchObject({ takes: "keys of its own; or false" });
  expect(helpIn("|")).toEqual({ path: "", about: "A routing policy of Weir.", takes: "keys of its own" });
  expect(helpIn("none: { such: |")).toBeUndefined();
});
