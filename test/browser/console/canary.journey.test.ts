/** A canary turns red: its endpoint fails each call of its share, and the page shows it warm, be judged, and what ends it. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld(async () => ({
  endpoints: [
    { provider: "steady", price: { input: 1, output: 2 } },
    { provider: "broken", price: { input: 1, output: 2 }, instruction: { status: 500 } },
  ],
}));

test("it warms, turns red with the whole interval above its limit, and begins anew with a new version", async () => {
  const { gateway, browser } = world;
  const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
  const broken: string = json.data.find((each: { provider: string }) => each.provider === "broken").id;
  const canary = `{ endpoint: ${broken}, percent: 100, max_error_rate: 0.1, min_samples: 4 }`;
  const yaml = `version: 1\ndefaults:\n  canary: ${canary}\n`;
  const post = (path: string, body: object) => gateway.call("POST", `/v1/policies${path}`, { body });
  await post("", { name: "trial", yaml });
  await post("/trial/activate", { version: 1 });
  /** Answered, by the other endpoint. */
  const call = async () =>
    expect((await gateway.chat({ model: "test/model", max_tokens: 20 })).status).toBe(200);
  for (let i = 0; i < 2; i++) await call();

  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  await ada.open("first/policies/trial/reports");
  const first = page.getByRole("region", { name: `Canary ${broken}, version 1` });
  await first.getByText("warming", { exact: true }).waitFor();
  await first
    .getByText("2 of 2 results failed. It is not judged before 4 are in: 2 must still come.")
    .waitFor();
  await first.getByText("2 of 4", { exact: true }).waitFor();
  await first.getByText("Limit: 10%").waitFor();

  for (let i = 0; i < 2; i++) await call();
  await page.reload();
  await first.getByText("red", { exact: true }).waitFor();
  await first.getByText(/^4 of 4 results failed\. .* it got no share any more\.$/).waitFor();
  await first.getByText(/^Red is final for this version/).waitFor();
  // The numbers beside the drawing: even the least rate that is possible is above the limit.
  const [, low = ""] = /100%\s*([\d.]+)% to 100%/.exec((await first.textContent()) ?? "") ?? [];
  expect(Number(low)).toBeGreaterThan(10);
  expect(await first.locator(".intervals-drawn").getAttribute("data-tone")).toBe("bad");
  await untilShown(page);
  expect(await cutOff(page)).toEqual([]);
  expect(await accessFaults(page)).toEqual([]);

  // A plan says so, too.
  await page.getByRole("link", { name: "One call" }).click();
  await page.getByLabel("Model").selectOption("test/model");
  await page.getByRole("button", { name: "Plan the call" }).click();
  await page.getByText("has failed its trial and gets no share.").waitFor();

  await post("/trial/versions", { yaml });
  await post("/trial/activate", { version: 2 });
  await page.getByRole("link", { name: "Trials" }).click();
  const second = page.getByRole("region", { name: `Canary ${broken}, version 2` });
  await second.getByText("warming", { exact: true }).waitFor();
  await second.getByText("no result yet").waitFor();
  await first.getByText(/no longer in force/).waitFor();
  expect(ada.told).toEqual([]);
  expectActs("canary", ada);
});
