/** A person's playground key over three cells: made at one, it is used, given another secret and ended at others. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { known } from "../../support/cells/known.ts";
import { joinAt, type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import {
  type Answer,
  callsBy,
  type TestCalls,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { missingRedis } from "../../support/redis-server.ts";
import {
  type Directory,
  directoryAt,
  directoryOf,
  memberOf,
  patch,
} from "../../support/scim/scim.fixtures.ts";

const missing = missingRedis();
const LOCAL = {
  id: "local",
  limits: { rpm: 0, tpm: 0, concurrency: 0, keys: 9, projects: 9 },
  features: { sso: true },
};

describe.skipIf(missing !== undefined)(
  `playground keys over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let gateway: TestGateway;
    let first: TestCalls;
    let second: TestCalls;
    let third: TestCalls;
    let projectId: string;
    let owner: SignedInPerson;
    let token: string;
    beforeAll(async () => {
      gateway = await testGateway({ cells: 3, plans: [LOCAL] });
      const cells = (gateway.cellUrls ?? []).map((url) => callsBy(gateway, url, gateway.simulator));
      [first, second, third] = cells as [TestCalls, TestCalls, TestCalls];
      owner = await signInAt(gateway.url, { email: "owner@example.com" });
      projectId = (await gateway.call("GET", "/v1/projects")).json.data[0].id;
      ({ token } = await directoryOf(gateway.url, owner));
    });
    afterAll(() => gateway.stop());

    /** A route, with a person's session, at a cell. */
    const at = (
      cell: TestCalls,
      { cookie, csrf }: SignedInPerson,
      method: string,
      path: string,
      body: object,
    ) => known(() => cell.call(method, path, { body, key: null, headers: { cookie, "x-svc-csrf": csrf } }));
    const keyAt = async (cell: TestCalls, person: SignedInPerson) => {
      const answer = await at(cell, person, "POST", "/v1/playground/key", { project_id: projectId });
      expect(answer.status, answer.text).toBe(201);
      return answer.json as { readonly id: string; readonly secret: string };
    };
    const directoryOn = ({ url }: TestCalls): Directory => directoryAt(url, token);
    const codeOf = ({ status, json }: Answer) => [status, json.error?.code].filter(Boolean).join(" ");
    /** What a call with the secret is answered at each cell, in their order. */
    const used = (secret: string): Promise<string[]> =>
      Promise.all(
        [first, second, third].map(async (cell) =>
          codeOf(await known(() => cell.chat({ max_tokens: 5 }, { key: secret }))),
        ),
      );
    const everywhere = (code: string) => [code, code, code];

    let people = 0;
    let email: string;
    beforeEach(() => {
      email = `person-${++people}@example.com`;
    });
    const byHand = async (): Promise<SignedInPerson> => {
      await gateway.call("POST", "/v1/orgs/first/members", { body: { email, role: "member" } });
      return await joinAt(gateway.url, { email });
    };

    test("is the same key at each cell, and one that asks again ends the earlier secret everywhere", async () => {
      const person = await byHand();
      const made = await keyAt(first, person);
      expect(await used(made.secret)).toEqual(everywhere("200"));
      const again = await keyAt(second, person);
      expect(again.id).toBe(made.id);
      expect(await used(made.secret)).toEqual(everywhere("401 invalid_key"));
      expect(await used(again.secret)).toEqual(everywhere("200"));
    });

    test("of those who ask at all cells at once, one secret works, and it works everywhere", async () => {
      const person = await byHand();
      const cells = Array.from({ length: 12 }, (_, n) => [first, second, third][n % 3] as TestCalls);
      const made = await Promise.all(cells.map((cell) => keyAt(cell, person)));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      const outcomes = await Promise.all(made.map(({ secret }) => used(secret)));
      expect(outcomes.filter(([code]) => code === "200")).toEqual([everywhere("200")]);
      expect(outcomes.filter(([code]) => code !== "200")).toEqual(
        Array.from({ length: 11 }, () => everywhere("401 invalid_key")),
      );
    });

    test("ends everywhere with its person's role, taken at another cell", async () => {
      const person = await byHand();
      const { secret } = await keyAt(first, person);
      expect(await used(secret)).toEqual(everywhere("200"));
      const path = `/v1/orgs/first/members/${person.id}`;
      expect((await at(third, owner, "PATCH", path, { role: "viewer" })).status).toBe(200);
      expect(await used(secret)).toEqual(everywhere("401 revoked_key"));
      const asked = await at(second, person, "POST", "/v1/playground/key", { project_id: projectId });
      expect(codeOf(asked)).toBe("403 role");
    });

    test("ends everywhere with its person, whom a directory deactivates at another cell", async () => {
      const created = await known(() =>
        directoryOn(second).call("POST", "/Users", { body: { userName: email } }),
      );
      const person = await signInAt(gateway.url, { email });
      expect((await memberOf(owner, email)).user_id).toBe(person.id);
      await at(first, person, "PUT", "/auth/active-org", { org: "first" });
      const { secret } = await keyAt(first, person);
      expect(await used(secret)).toEqual(everywhere("200"));
      const off = patch({ op: "replace", path: "active", value: false });
      const path = `/Users/${created.json.id}`;
      const ended = await known(() => directoryOn(third).call("PATCH", path, { body: off }));
      expect(ended.status).toBe(200);
      expect(await used(secret)).toEqual(everywhere("401 revoked_key"));
    });
  },
);
