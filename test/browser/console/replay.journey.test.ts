/** A draft is planned for one call and replayed over calls that were made: the flow shows what would move, and what would be refused. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { recorded } from "../../support/observations.ts";

const world = consoleWorld(async () => ({
  endpoints: [
    { provider: "dear", price: { input: 8, output: 16 } },
    { provider: "cheap", price: { input: 1, output: 2 } },
  ],
}));

const call = (app: string) =>
  world.gateway.chat({ model: "test/model", stream: true, max_tokens: 20, svc: { metadata: { app } } });

test("what moves and what would be refused is seen before a version is in force", async () => {
  const { gateway, browser } = world;
  const listed = await gateway.call("GET", "/v1/models/test/model/endpoints");
  const idOf = (provider: string): string =>
    listed.json.data.find((each: { provider: string }) => each.provider === provider).id;
  const [dear, cheap] = [idOf("dear"), idOf("cheap")];
  const write = (yaml: string, path = "") =>
    gateway.call("POST", `/v1/policies${path}`, { body: path === "" ? { name: "house", yaml } : { yaml } });
  await write(`version: 1\ndefaults: { order: [${dear}] }\n`);
  await gateway.call("POST", "/v1/policies/house/activate", { body: { version: 1 } });
  const toys =
    '{ name: no toys, match: { app: toy }, then: { deny: { message: "Toys wait until Monday." } } }';
  const shop = `{ name: stays, match: { app: shop }, then: { order: [${dear}] } }`;
  await write(`version: 1\nsort: price\nrules:\n  - ${toys}\n  - ${shop}\n`, "/house/versions");
  // Five would move, two would stay, three would be refused.
  for (const [app, times] of [
    ["web", 5],
    ["shop", 2],
    ["toy", 3],
  ] as const)
    for (let i = 0; i < times; i++) expect((await call(app)).status).toBe(200);
  await recorded(gateway);

  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  await ada.open("first/policies/house/dry-run?version=2");
  await page.getByLabel("Model").selectOption("test/model");
  await page.getByLabel("App").fill("web");
  await page.getByRole("button", { name: "Plan the call" }).click();
  const plan = page.getByRole("list", { name: "Endpoints that would be asked, in order" });
  await plan.getByText(cheap).waitFor();
  expect(await plan.locator("strong").allTextContents()).toEqual([cheap, dear]);
  await plan.getByText(/^Asked first: about/).waitFor();
  // The address is the call: it can be sent to somebody.
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    version: "2",
    model: "test/model",
    app: "web",
  });
  await page.getByLabel("App").fill("toy");
  await page.getByRole("button", { name: "Plan the call" }).click();
  await page.getByText("The call would be refused.").waitFor();
  await page.locator(".note").getByText("Toys wait until Monday.").waitFor();
  expect(await cutOff(page)).toEqual([]);

  await page.getByRole("link", { name: "Past calls" }).click();
  await page.getByLabel("Version").selectOption("Version 2, never in force");
  await page.getByRole("button", { name: "1 hour", exact: true }).click();
  await page.getByRole("button", { name: "Replay the last hour" }).click();
  const flow = page.getByRole("group", { name: "Flow of calls between endpoints, before and after" });
  await flow.waitFor();
  const bands = flow.getByRole("img");
  const told = await Promise.all(
    (await bands.all()).map(async (band) => (await band.getAttribute("aria-label")) ?? ""),
  );
  expect(told.map((text) => text.replace(/; .*/, ""))).toEqual([
    `5 calls from ${dear} to ${cheap}`,
    `3 calls from ${dear} to refused by policy`,
    `2 calls stay: ${dear}`,
  ]);
  // What a band says is said where it has the focus.
  await bands.first().focus();
  await page
    .locator(".chart-legend")
    .getByText(told[0] ?? "")
    .waitFor();
  const refused = page.getByRole("region", { name: "What would be refused" });
  await refused.getByText(/^3 calls, of which 3 were not refused then/).waitFor();
  expect(await refused.getByRole("row").filter({ hasText: "newly" }).count()).toBe(3);
  await page.getByText("As a table, with cost and first token").click();
  const moved = page.getByRole("row").filter({ hasText: "moves" });
  expect((await moved.textContent()) ?? "").toContain(cheap);
  expect(await cutOff(page)).toEqual([]);
  expect(await accessFaults(page)).toEqual([]);

  // It is there when one comes back from a request that would be refused.
  await refused.getByRole("link").first().click();
  await page.getByRole("heading", { name: "Request", level: 1 }).waitFor();
  await untilShown(page);
  await page.goBack();
  await flow.waitFor();
  // It changed nothing: the first version is in force.
  expect((await call("web")).status).toBe(200);
  const versions = await gateway.call("GET", "/v1/policies/house/versions");
  expect(versions.json.data.map((each: { status: string }) => each.status)).toEqual(["draft", "active"]);
  expect(ada.told).toEqual([]);
  expectActs("replay", ada);
});

test("a second replay at once is refused in words, and can be tried again", async () => {
  const { gateway, browser } = world;
  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  await page.route("**/v1/policies/house/dry-run", (route) =>
    route.fulfill({
      status: 429,
      contentType: "application/json",
      body: JSON.stringify({
        error: { code: "concurrency", message: "A replay of this organization is under way." },
      }),
    }),
  );
  await ada.open("first/policies/house/replay");
  await page.getByRole("button", { name: "Replay the last 24 hours" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText(/is under way\. One is run at a time for an organisation/).waitFor();
  await page.unroute("**/v1/policies/house/dry-run");
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("group", { name: /^Flow of calls/ }).waitFor();
  expect(ada.told.filter((line) => !/ 429 POST /.test(line))).toEqual([]);
});
