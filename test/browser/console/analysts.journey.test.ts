/** An analyst's access: a user is made, what the page gives to copy works over HTTP, and once it is deleted no more. */
import { expect, test } from "vitest";
import { probeConfinement } from "../../../src/analytics/engine/confinement.ts";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { recorded } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

const world = consoleWorld(async () => {
  const { kind } = await probeConfinement("confined");
  return { settings: { analytics: { analysts: kind === "off" ? "unconfined" : "confined" } } };
});

/** Runs the command that the page shows, as curl would. */
async function runs(command: string): Promise<{ status: number; text: string }> {
  const [, url = "", user = "", question = ""] =
    /^curl '([^']+)' -u '([^']+)' \\\n\s+--data-binary '([^']+)'$/.exec(command) ?? [];
  const headers = { authorization: `Basic ${btoa(user)}` };
  const answer = await fetch(url, { method: "POST", headers, body: question });
  return { status: answer.status, text: await answer.text() };
}

test("an analyst's user is made, asks by what is shown, and is deleted", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  expect((await world.gateway.chat()).status).toBe(200);
  await recorded(world.gateway);
  await ada.open("first/settings/analysts");
  await page.getByText("There is none yet.").waitFor();
  await page.getByRole("button", { name: "New user" }).click();
  const form = page.getByRole("dialog", { name: "New user" });
  await form.getByLabel("What it is for").fill('Ada\'s <i>"notebook"</i>');
  await form.getByLabel("It ends").selectOption({ label: "In 7 days" });
  await form.getByRole("button", { name: "Make user" }).click();

  const shown = page.getByRole("dialog", { name: "The password of" });
  const password = (await shown.locator(".secret code").textContent()) ?? "";
  expect(await shown.locator("pre").textContent()).toContain(`password=${JSON.stringify(password)}`);
  await shown.getByRole("button", { name: "BI tools (JDBC)" }).click();
  expect(await shown.locator("pre").textContent()).toMatch(
    /^jdbc:clickhouse:http:\/\/127\.0\.0\.1:\d+\/weir\?compress=0\n/,
  );
  await shown.getByRole("button", { name: "curl" }).click();
  const command = (await shown.locator("pre").textContent()) ?? "";
  // The process of analysts' statements starts with the first of them.
  const answered = async () => (await runs(command)).text.includes("weir/sim-small");
  await until("the question is answered", answered);
  expect(await cutOff(page)).toEqual([]);
  await shown.getByRole("button", { name: "I have stored it" }).click();
  expect(await page.content()).not.toContain(password);

  // Later the page still says how to connect, without the password.
  await page.getByRole("button", { name: /^How to connect as/ }).click();
  const later = page.getByRole("dialog", { name: "Connect as" });
  expect(await later.locator("pre").textContent()).toContain("YOUR_PASSWORD");
  await later.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: /^Delete Ada's/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete user" }).click();
  await page.getByText("There is none yet.").waitFor();
  await until("it is refused", async () => (await runs(command)).status !== 200);
  expect(ada.told).toEqual([]);
  expectActs("analysts", ada);
});
