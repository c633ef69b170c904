/** What a hostile policy may cost: neither reading nor matching one holds up anybody else. */
import { expect, test, vi } from "vitest";
import { compilePolicy, type PolicyFacts } from "../../../../src/routing/language/policy.ts";
import { type PolicyReading, readPolicy } from "../../../../src/routing/language/policy-reading.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";
import { accountsWithout, policyRig } from "./fixtures.ts";

const rig = policyRig();

const numbered = (count: number, text: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => text(i));

const IDS = numbered(400, (i) => `ep_provider-${i % 40}_some-model-name-${i}_us-east-1`);
/** A catalog as large as the shipped one. */
const KNOWN = {
  providers: new Set(numbered(40, (i) => `provider-${i}`)),
  endpoints: new Set(IDS),
  regions: new Set(numbered(40, (i) => `region-${i}`)),
  judged: IDS.map((id) => endpoint(id)),
  models: new Set(numbered(250, (i) => `vendor-${i}/some-model-${i}`)),
};

/** Processor time of this thread: neither other processes nor what engines do in threads of this one count. */
function cpuMs(act: () => void): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

function read(text: string): { reading: PolicyReading; tookMs: number } {
  let reading: PolicyReading = { ok: false, problems: [] };
  const tookMs = cpuMs(() => {
    reading = readPolicy(text, { known: KNOWN });
  });
  return { reading, tookMs };
}

const flow = (items: readonly string[]): string => `[${items.join(", ")}]`;
const unknownIds = (count: number, length: number): string[] =>
  numbered(count, (i) => `ep_no-such-${i}_`.padEnd(length, "abcdefghijk"));

/** Each took up to 20 s before there were bounds, and takes milliseconds; the limit leaves room for a busy machine. */
test.each([
  ["unknown keys in every rule", `version: 1\nrules: ${flow(Array(200).fill("{a: 1}"))}`],
  [
    "unknown names, again and again by alias",
    `version: 1\ndefaults: {order: &a ${flow(unknownIds(60, 20))}}\nrules:\n${Array(99).fill("- then: {order: *a}").join("\n")}`,
  ],
  ["long unknown names", `version: 1\ndefaults: {order: ${flow(unknownIds(60, 60))}}`],
  [
    "a thousand unknown weights",
    `version: 1\ndefaults:\n  weights:\n${numbered(1000, (i) => `    e${i}: 1`).join("\n")}`,
  ],
  [
    "longest unknown weights",
    `version: 1\ndefaults:\n  weights:\n${unknownIds(60, 199)
      .map((id) => `    ${id}: 1`)
      .join("\n")}`,
  ],
  ["aliases by the thousand", `version: 1\nx: [&a [], ${Array(18_000).fill("*a").join(",")}]`],
  [
    "anchors by the thousand, and an alias of nothing",
    `version: 1\nx: [${numbered(4_000, (i) => `&a${i} 1,*a${i}`).join(",")},*b]`,
  ],
  ["a thousand unknown keys", `version: 1\n${numbered(1000, (i) => `k${i}: 1`).join("\n")}`],
  ["unknown keys that are nearly right", `version: 1\n${numbered(500, (i) => `defalts${i}: 1`).join("\n")}`],
])("%s are read in less than a second, with a bounded answer", (_what, text) => {
  const { reading, tookMs } = read(text);
  expect(tookMs).toBeLessThan(1_000);
  const said = reading.ok ? reading.warnings : reading.problems;
  expect(said.length).toBeGreaterThan(0);
  expect(said.length).toBeLessThanOrEqual(100);
});

test("the warning about an unknown name still has its position and the nearest name", () => {
  const { reading } = read(
    "version: 1\ndefaults: {order: [provder-7, provder-7], weights: {provder-7: 1}}\n",
  );
  expect(reading).toMatchObject({
    ok: true,
    warnings: [
      {
        pointer: "/defaults/order/0",
        message: 'there is no provider or endpoint "provder-7"; did you mean "provider-7"?',
      },
      { pointer: "/defaults/order/1" },
      { pointer: "/defaults/weights/provder-7" },
    ],
  });
});

const FACTS: PolicyFacts = {
  modelId: "",
  projectId: "prj_1",
  projectSlug: "one",
  keyId: "key_1",
  app: "",
  tags: {},
  stream: false,
  hasTools: false,
  hasImages: false,
  inputTokens: 1,
};

test("a call waits for 12,000 patterns made to match slowly as little as for none", () => {
  const globs = (letter: string) => flow(numbered(64, (i) => `"*${letter.repeat(20)}${i}"`));
  const rules = (anchor: string, letter: string) =>
    `- match: {model: &${anchor} ${globs(letter)}}\n${Array(99).fill(`- match: {model: *${anchor}}`).join("\n")}`;
  const { reading } = read(`version: 1\nrules:\n${rules("a", "a")}\n${rules("b", "?a")}\n`);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems[0]));
  const policy = compilePolicy(reading.document, { name: "slow", version: 1 });
  const models = numbered(50, (i) => `v/${"a".repeat(60)}${i}b`);
  const tookMs = cpuMs(() => {
    for (const modelId of models) policy.decide({ ...FACTS, modelId }, {});
  });
  // It was many seconds.
  expect(tookMs).toBeLessThan(1_000);
});

test("T54: a thousand versions, each in force in a project of its own, are listed over several turns", async () => {
  const { tables } = rig.policies;
  const project = () => ({ orgId: "org_1", slug: "any", status: "active" });
  rig.ports = { accounts: { ...accountsWithout(), project } };
  await tables.act(() => {
    for (let version = 1; version <= 1_000; version++) {
      const row = { name: "house", version, createdAtMs: 0, createdBy: "key_1", wasActive: false };
      tables.addVersion("org_1", row, "version: 1");
      const scope = `prj_${String(version).padStart(4, "0")}`;
      tables.activate(
        "org_1",
        { scope, name: "house", version, activatedAtMs: 0, activatedBy: "key_1" },
        row,
      );
    }
  });
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const versions = await rig.versions("house");
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(versions.map((v) => v.version)).toEqual(numbered(1_000, (i) => `${1_000 - i}`).map(Number));
  expect(versions.every((v) => v.status === "active")).toBe(true);
  expect(versions[999]).toMatchObject({ scopes: [{ project_id: "prj_0001" }] });
});

test("reading thousands of versions does not drop active policies from memory", async () => {
  await rig.create("house");
  await rig.activate("house", 1);
  expect(rig.currentActivations()).toBe("house@1");
  const { tables } = rig.policies;
  const text = vi.spyOn(tables, "text").mockImplementation(() => "version: 1");
  for (let version = 1; version <= 2_500; version++) {
    await rig.policies.prepare({ orgId: "org_2", policy: "flood", version });
  }
  text.mockClear();
  expect([rig.currentActivations(), text.mock.calls]).toEqual(["house@1", []]);
});
