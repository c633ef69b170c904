/** Words and rules of the pages about people, projects and organisations. */
import { describe, expect, test } from "vitest";
import { found, inOrder, isLastOwner, type Member } from "../../../console/pages/members/member-words.ts";
import { mayGive, ROLE_WORDS, rolesToGive } from "../../../console/pages/members/role-words.ts";
import {
  createBody,
  faultsOf,
  NEW_PROJECT,
  type Project,
  patchBody,
  valuesOf,
} from "../../../console/pages/projects/project-values.ts";
import { dataPolicyWords } from "../../../console/pages/projects/project-words.ts";
import { agentWords } from "../../../console/pages/sessions/agent-words.ts";
import { COUNTRIES, countryOptions } from "../../../console/text/countries.ts";
import { slugFault, slugOf } from "../../../console/text/slug.ts";
import { COUNTRIES as ASSIGNED } from "../../../src/account/fields/countries.ts";
import { orgSlugField, slugField } from "../../../src/account/fields/slug.ts";
import { ROLE_WORDS as PAGE_WORDS } from "../../../src/account/role-words.ts";
import { mayGrantRole, ROLES } from "../../../src/account/roles.ts";

describe("roles", () => {
  test("have the words of the page of an invitation", () => expect(ROLE_WORDS).toEqual(PAGE_WORDS));

  test("are given as the API lets them be given", () => {
    for (const own of ROLES)
      for (const role of ROLES) expect(mayGive(own, role), `${own} ${role}`).toBe(mayGrantRole(own, role));
    expect(rolesToGive("admin")).toEqual(["viewer", "member", "billing", "admin"]);
    expect(rolesToGive(undefined)).toEqual([]);
  });
});

const member = (given: Partial<Member>): Member => ({
  org_id: "org_1",
  user_id: "usr_1",
  role: "member",
  email: "a@example.com",
  status: "active",
  since: "2026-12-01T00:00:00.000Z",
  is_managed: false,
  ...given,
});

describe("members", () => {
  const owner = member({ user_id: "usr_o", role: "owner", name: "Olivia" });

  test.each<[string, readonly Member[], boolean]>([
    ["alone", [owner], true],
    ["beside an owner who has not joined", [owner, member({ role: "owner", status: "invited" })], true],
    ["beside an admin", [owner, member({ role: "admin" })], true],
    ["beside another owner", [owner, member({ role: "owner" })], false],
  ])("an owner %s is the last one: %j", (_, all, isLast) => {
    expect(isLastOwner(owner, all)).toBe(isLast);
    expect(isLastOwner(member({ role: "admin" }), all)).toBe(false);
  });

  test("stand before the invited, by role and name", () => {
    const invited = member({ user_id: "usr_i", role: "owner", status: "lapsed", email: "a@a.example" });
    const [zoe, bo] = [member({ user_id: "z", name: "Zoe" }), member({ user_id: "b", name: "Bo" })];
    expect(inOrder([invited, zoe, bo, owner])).toEqual([owner, bo, zoe, invited]);
  });

  test("are found by name, address and role", () => {
    const all = [owner, member({ user_id: "x", email: "grace@example.com" })];
    expect(found(all, " OLIV ", "")).toEqual([owner]);
    expect(found(all, "grace@", "")).toEqual([all[1]]);
    expect(found(all, "", "owner")).toEqual([owner]);
    expect(found(all, "grace", "owner")).toEqual([]);
  });
});

const project: Project = {
  id: "prj_1",
  org_id: "org_1",
  slug: "night",
  name: "Night",
  environment: "live",
  status: "active",
  budget: { monthly_micro: 5_000_000, hard: true },
  spend_today_micro: 0,
  spend_month_micro: 0,
  created_at: "2026-12-01T00:00:00.000Z",
};

describe("a project's form", () => {
  test("asks for a name and a budget that is one", () => {
    expect(Object.keys(faultsOf(NEW_PROJECT))).toEqual(["name", "slug"]);
    const named = { ...NEW_PROJECT, name: "Night & Day" };
    expect(faultsOf(named)).toEqual({});
    for (const budget of ["0", "-1", "much"]) expect(faultsOf({ ...named, budget })).toHaveProperty("budget");
    expect(faultsOf({ ...named, slug: "No" })).toHaveProperty("slug");
  });

  test("makes a project of what is filled in", () => {
    const values = { ...NEW_PROJECT, name: " Night & Day " };
    expect(createBody(values)).toEqual({ name: "Night & Day", slug: "night-day", environment: "live" });
    expect(createBody({ ...values, slug: "nd", budget: "2.50", isHard: false, hold: "fit" })).toEqual({
      name: "Night & Day",
      slug: "nd",
      environment: "live",
      budget: { monthly_micro: 2_500_000, hard: false },
      hold: "fit",
    });
  });

  test("changes what differs, and nothing else", () => {
    const values = valuesOf(project);
    expect(patchBody(project, values)).toBeUndefined();
    expect(patchBody(project, { ...values, budget: "7" })).toEqual({
      budget: { monthly_micro: 7_000_000, hard: true },
    });
    expect(patchBody(project, { ...values, budget: "" })).toEqual({ budget: { monthly_micro: null } });
    expect(patchBody(project, { ...values, isHard: false })).toEqual({
      budget: { monthly_micro: 5_000_000, hard: false },
    });
    expect(patchBody({ ...project, hold: "fit" }, { ...values, name: "Day" })).toEqual({
      name: "Day",
      hold: null,
    });
  });
});

test("a data policy in words says what is kept, and what endpoints must do", () => {
  const policy = { logging: "on", retention_days: 30, zdr: false, no_train: false, regions: [] } as const;
  expect(dataPolicyWords(policy)).toBe(
    "As the organisation has it: what was asked and answered is kept, for 30 days",
  );
  expect(dataPolicyWords({ ...policy, retention_days: 0 })).not.toContain("answered is kept");
  const strict = { ...policy, zdr: true, no_train: true, regions: ["eu-central-1"] };
  expect(dataPolicyWords(strict)).toMatch(
    /never leaves memory; only endpoints that keep nothing; .*only in eu/,
  );
});

test.each([
  ["Möbius & Söhne", "mobius-sohne"],
  ["  Acme, Inc. ", "acme-inc"],
  ["日本", ""],
  ["x".repeat(80), "x".repeat(63)],
  [`${"x".repeat(62)} y`, "x".repeat(62)],
])("the slug of %j is %j", (name, slug) => expect(slugOf(name)).toBe(slug));

test.each(["a", "a-b", "0", "-a", "a-", "A", "a_b", "", "x".repeat(63), "x".repeat(64), "ü"])(
  "the slug %j is good where the API takes it",
  (slug) => {
    expect(slugFault(slug) === undefined).toBe(slugField.safeParse(slug).success);
    // Words that the API reserves are told by its answer.
    if (slugFault(slug) !== undefined) expect(orgSlugField.safeParse(slug).success).toBe(false);
  },
);

test("countries are those that the API takes, each with a name", () => {
  expect(COUNTRIES).toEqual(ASSIGNED);
  const options = countryOptions();
  expect(options).toHaveLength(ASSIGNED.length);
  expect(options.filter(([code, name]) => code === name)).toEqual([]);
  expect(options.find(([code]) => code === "IN")).toEqual(["IN", "India"]);
});

test.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    "Chrome on Linux",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36 Edg/141.0",
    "Edge on Windows",
  ],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 14.4; rv:150.0) Gecko/20100101 Firefox/150.0", "Firefox on a Mac"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
    "Safari on an iPhone",
  ],
  ["Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0", "Firefox on Android"],
  ["curl/8.9.1", "curl"],
  ["node", "node"],
  ["", "It does not say what it is"],
  ["x".repeat(100), `${"x".repeat(40)}…`],
])("the client %j is %j", (agent, words) => expect(agentWords(agent)).toBe(words));
