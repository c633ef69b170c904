/** The feed of requests in a browser: days of one's own and an app are in the address, as the other filters are. */
import { expect, test } from "vitest";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { until } from "../../support/wait.ts";

const world = consoleWorld();

test("calls of an app, and of days that one chooses", async () => {
  const of = { "http-referer": "https://notebook.example", "x-title": "Notebook" };
  const [byApp, other] = [await world.gateway.chat({}, { headers: of }), await world.gateway.chat()];
  const [appCall, otherCall] = [byApp, other].map(({ headers }) => headers.get("x-svc-request-id") ?? "");
  const listed = async () =>
    (await world.gateway.call("GET", "/v1/requests")).json.data as { request_id: string; app_id: string }[];
  const rows = await until("both are listed", listed, (found) => found.length === 2);
  const app = rows.find(({ request_id: id }) => id === appCall)?.app_id ?? "";
  expect(app).not.toBe("");

  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  const links = (id = "") => page.locator(`a[href*="/requests/${id}"]`);
  await ada.open("first/overview?by=app");
  await page.getByRole("row").filter({ hasText: "Notebook" }).getByRole("link", { name: "1" }).click();
  await page.waitForURL(`**/requests?within=24h&app_id=${app}`);
  await links(appCall).waitFor();
  expect(await links(otherCall).count()).toBe(0);

  await page.getByLabel("App").fill("");
  await links(otherCall).waitFor();
  await page.getByLabel("When").selectOption("From day to day");
  const chosen = () => Object.fromEntries(new URL(page.url()).searchParams);
  expect(chosen()).toMatchObject({ within: "custom", from: expect.any(String), to: expect.any(String) });
  await links(otherCall).waitFor();
  await page.getByLabel("First day").fill("2020-02-03");
  await page.getByLabel("Last day").fill("2020-02-04");
  await page.getByText("No request fits these filters.").waitFor();
  expect(chosen()).toEqual({ within: "custom", from: "2020-02-03", to: "2020-02-04" });
  expect(await cutOff(page)).toEqual([]);
  await page.reload();
  expect(await page.getByLabel("Last day").inputValue()).toBe("2020-02-04");
  await page.getByRole("button", { name: "Clear all filters" }).click();
  await links(appCall).waitFor();
  expect(new URL(page.url()).search).toBe("");
  expect(ada.told).toEqual([]);
});
