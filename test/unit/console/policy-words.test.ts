/** What an activation and a deactivation say, which version was in force before, and what is kept of a text that is not saved. */
import { describe, expect, test } from "vitest";
import {
  activationWords,
  deactivationWords,
  scopesOf,
  versionBefore,
  WHOLE_ORG,
} from "../../../console/pages/policies/activation-words.ts";
import { draftKey, draftOf, forgetDraft, keepDraft } from "../../../console/pages/policies/editor/drafts.ts";

const NOW = scopesOf([
  { name: "house", in_force: [{ version: 2 }, { version: 1, project_id: "prj_1" }] },
  { name: "lab", in_force: [{ version: 7, project_id: "prj_2" }] },
  { name: "idle", in_force: [] },
]);
const org = { scopes: NOW, scope: WHOLE_ORG, project: undefined, others: ["One", "Two"] };
const project = (id: string, name: string) => ({ ...org, scope: id, project: name });
const EMPTY = { ...org, scopes: scopesOf([]), others: [] };

describe("an activation", () => {
  test.each([
    ["house", 3, org, "version 3 of “house” replaces version 2 for the whole organisation."],
    ["lab", 7, org, "version 7 of “lab” replaces version 2 of “house” for the whole organisation."],
    ["house", 2, project("prj_1", "One"), "version 2 of “house” replaces version 1 for the project One."],
    [
      "house",
      2,
      project("prj_2", "Two"),
      "version 2 of “house” replaces version 7 of “lab” for the project Two.",
    ],
    [
      "lab",
      1,
      project("prj_3", "Three"),
      "version 1 of “lab” is in force for the project Three, in the place of the organisation's: version 2 of “house”.",
    ],
    ["lab", 1, EMPTY, "version 1 of “lab” is in force for the whole organisation, where no policy was."],
    [
      "lab",
      1,
      { ...EMPTY, scope: "prj_1", project: "One" },
      "version 1 of “lab” is in force for the project One, where no policy was.",
    ],
  ])("%s %d", (policy, version, step, words) => {
    expect(activationWords({ policy, version }, step)?.[0]).toBe(`From the next call on, ${words}`);
  });

  test("of the org says which projects keep a policy of their own", () => {
    expect(activationWords({ policy: "house", version: 3 }, org)).toHaveLength(2);
    expect(activationWords({ policy: "house", version: 3 }, org)?.[1]).toBe(
      "Projects with a policy of their own keep it: One, Two.",
    );
    expect(activationWords({ policy: "house", version: 3 }, project("prj_1", "One"))).toHaveLength(1);
  });

  test("of what is in force there already does nothing", () => {
    expect(activationWords({ policy: "house", version: 2 }, org)).toBeUndefined();
    expect(activationWords({ policy: "house", version: 1 }, project("prj_1", "One"))).toBeUndefined();
    expect(activationWords({ policy: "lab", version: 2 }, org)).toBeDefined();
  });
});

test("a deactivation says what calls meet then", () => {
  expect(deactivationWords("house", org)).toEqual([
    "From the next call on, no policy is in force for the whole organisation: endpoints are ordered by price and health.",
    "Projects with a policy of their own keep it: One, Two.",
  ]);
  expect(deactivationWords("lab", project("prj_2", "Two"))).toEqual([
    "From the next call on, calls of the project Two follow the organisation's policy: version 2 of “house”.",
  ]);
  expect(deactivationWords("lab", { ...EMPTY, scope: "prj_2", project: "Two" })[0]).toContain(
    "no policy is in force for the project Two",
  );
});

test("rolled back is to the newest version before that was ever in force", () => {
  const versions = [
    { version: 6, status: "retired" },
    { version: 5, status: "active" },
    { version: 4, status: "draft" },
    { version: 3, status: "retired" },
    { version: 2, status: "active" },
    { version: 1, status: "retired" },
  ] as const;
  expect([6, 5, 3, 2, 1].map((current) => versionBefore(versions, current))).toEqual([5, 3, 2, 1, undefined]);
});

describe("a draft", () => {
  const store = new Map<string, string>();
  const storage = {
    getItem: (key: string) => store.get(key) ?? null,
    setItem: (key: string, text: string) => void store.set(key, text),
    removeItem: (key: string) => void store.delete(key),
  } as Storage;
  const draft = { from: 2, name: "", yaml: "version: 1\n" };

  test("is kept for each org, person and policy apart, until it is forgotten", () => {
    const key = draftKey("org_1", "usr_1", "house");
    keepDraft(storage, key, draft);
    expect(draftOf(storage, key)).toEqual(draft);
    const others = [
      draftKey("org_2", "usr_1", "house"),
      draftKey("org_1", "usr_2", "house"),
      draftKey("org_1", "usr_1", ""),
    ];
    expect(others.map((other) => draftOf(storage, other))).toEqual([undefined, undefined, undefined]);
    forgetDraft(storage, key);
    expect(draftOf(storage, key)).toBeUndefined();
  });

  test("that has no room, or is something else, is none", () => {
    const full = {
      ...storage,
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    } as Storage;
    keepDraft(storage, "k", draft);
    keepDraft(full, "k", { ...draft, yaml: "longer" });
    // An older text in its place would be taken for the newest.
    expect(draftOf(storage, "k")).toBeUndefined();
    for (const text of ["", "[]", "{}", '{"from":"2","name":"","yaml":""}']) {
      store.set("weir.policy-draft.k", text);
      expect(draftOf(storage, "k")).toBeUndefined();
    }
  });
});
