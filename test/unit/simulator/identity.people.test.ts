/**
 * The list of people of the built-in identity provider: kept in a file, bounded, and never overwritten by something that
 * it cannot read.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startIdentityProvider } from "../../../simulator/identity/identity-provider.ts";
import { MAX_PEOPLE, openPeople } from "../../../simulator/identity/people.ts";
import { seededRandom, systemClock, systemRandom } from "../../../src/base/clock.ts";
import {
  Browser,
  beginSignIn,
  signIn,
  startApplication,
  startProviderFor,
} from "../../support/simulator/identity.fixtures.ts";

const ADA = { email: "ada@example.test", name: "Ada", secondFactor: false };
const BEN = { email: "ben@example.test", name: "Ben", secondFactor: true };

let folder: string;
let peopleFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-people-"));
  peopleFile = join(folder, "people.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const someone = (i: number) => ({ email: `p${i}@example.test`, name: `Person ${i}`, secondFactor: false });

test("a person keeps sub, name and second factor over a restart", async () => {
  const application = await startApplication();
  const subs: string[] = [];
  for (const fields of [{ email: ADA.email, name: ADA.name, second_factor: "yes" }, undefined]) {
    const provider = await startProviderFor(application, { peopleFile });
    const { claims } = await signIn(provider.issuer, application, fields ?? { sub: subs[0] as string });
    expect(claims).toMatchObject({ email: ADA.email, name: ADA.name, amr: ["pwd", "otp"] });
    subs.push(claims.sub);
    await provider.close();
  }
  expect(subs[1]).toBe(subs[0]);
  await application.close();
});

test("only this user can read the file, and nothing else is left beside it", async () => {
  const people = await openPeople(peopleFile, systemRandom);
  await people.put(ADA);
  expect(statSync(peopleFile).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["people.json"]);
});

test("people who are added at the same time are all kept, in the file too", async () => {
  const people = await openPeople(peopleFile, systemRandom);
  await Promise.all(Array.from({ length: 20 }, (_, i) => people.put(someone(i))));
  const again = await openPeople(peopleFile, systemRandom);
  expect(again.all()).toEqual(people.all());
  expect(new Set(again.all().map(({ sub }) => sub)).size).toBe(20);
});

test("the random numbers decide the sub, the e-mail address does not", async () => {
  const [first, second] = await Promise.all([
    openPeople(undefined, seededRandom(1)),
    openPeople(undefined, seededRandom(1)),
  ]);
  expect((await first.put(ADA))?.sub).toBe((await second.put(BEN))?.sub);
  expect(first.all()[0]?.sub).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
});

test("the list ends at 500 people, who can still sign in and be changed", async () => {
  const people = Array.from({ length: MAX_PEOPLE }, (_, i) => ({ sub: `sub-${i}`, ...someone(i) }));
  writeFileSync(peopleFile, JSON.stringify({ version: 1, people }));
  const application = await startApplication();
  const provider = await startProviderFor(application, { peopleFile });
  const browser = new Browser();
  const begun = await beginSignIn(provider.issuer, application);
  const page = await browser.submit(await browser.visit(begun.url), { email: ADA.email, name: ADA.name });
  expect(page.status).toBe(409);
  expect(page.html).toContain("The list is full: it has 500 people.");
  expect(provider.people()).toHaveLength(MAX_PEOPLE);
  const tokens = await begun.finish(await browser.submit(page, { email: "p7@example.test", name: "Seven" }));
  expect(tokens.claims()).toMatchObject({ sub: "sub-7", name: "Seven" });
  await provider.close();
  await application.close();
});

test.each([
  ["half of it", '{"version": 1, "people": ['],
  ["another version", '{"version": 2, "people": []}'],
  [
    "a person without an e-mail address",
    '{"version": 1, "people": [{"sub": "a", "name": "A", "secondFactor": false}]}',
  ],
  [
    "two people with one sub",
    JSON.stringify({
      version: 1,
      people: [
        { sub: "a", ...ADA },
        { sub: "a", ...BEN },
      ],
    }),
  ],
  ["far more than people need", `"${"x".repeat(2_100_000)}"`],
])("a damaged file is named and left alone: %s", async (_, content) => {
  writeFileSync(peopleFile, content);
  const started = startIdentityProvider({ clients: [], clock: systemClock, peopleFile });
  await expect(started).rejects.toThrow(`cannot be read from ${peopleFile}`);
  expect(readFileSync(peopleFile, "utf8")).toBe(content);
});

test("where the file cannot be written nobody is added, the page says so, and the operator is told", async () => {
  const application = await startApplication();
  const problems: string[] = [];
  const missing = join(folder, "missing", "people.json");
  const report = (problem: string) => problems.push(problem);
  const provider = await startProviderFor(application, { peopleFile: missing, report });
  const browser = new Browser();
  const { url } = await beginSignIn(provider.issuer, application);
  const page = await browser.submit(await browser.visit(url));
  expect(page.status).toBe(500);
  expect(page.html).not.toContain(missing);
  expect(provider.people()).toEqual([]);
  expect(problems).toEqual([expect.stringContaining(missing)]);
  await provider.close();
  await application.close();
});
