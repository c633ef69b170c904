/**
 * Somebody in no org makes one, makes another, switches between them, and is where they were at the next sign-in; hands one over to a member,
 * and leaves it.
 */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { acceptInvitation, personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();

test("an org is made, another one too, and one is handed over and left", async () => {
  const { browser, gateway } = world;
  // The first to sign in owns the org of the start.
  await personAt(browser, gateway.url, "first@example.test");
  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  await page.getByRole("heading", { name: "You are in no organisation yet" }).waitFor();
  await page.getByRole("button", { name: "Make an organisation" }).click();
  await page.getByRole("button", { name: "Create organisation" }).click();
  await page.getByText("Choose a country.").waitFor();
  expect(await cutOff(page)).toEqual([]);
  expect(await accessFaults(page)).toEqual([]);
  await page.getByLabel("Name", { exact: true }).fill("Acme Works");
  await page.getByLabel("Country where it is billed").selectOption("IN");
  await page.getByText("Indian rupees").waitFor();
  await page.getByRole("button", { name: "Create organisation" }).click();
  await page.waitForURL("**/console/acme-works/**");

  await page.locator(".shell-own summary").click();
  await page.getByRole("link", { name: "Your organisations" }).click();
  await page.getByText("You are its only owner").waitFor();
  expect(await page.getByRole("button", { name: "Leave organisation" }).count()).toBe(0);
  await page.getByRole("button", { name: "New organisation" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Side Project");
  await page.getByLabel("Short name").fill("acme-works");
  await page.getByLabel("Country where it is billed").selectOption("US");
  await page.getByRole("button", { name: "Create organisation" }).click();
  await page.getByText('There is an organisation "acme-works" already.').waitFor();
  expect(ada.told.splice(0)).toEqual([expect.stringContaining("409 POST")]);
  await page.getByLabel("Short name").fill("side");
  await page.getByRole("button", { name: "Create organisation" }).click();
  await page.waitForURL("**/console/side/**");
  await page.getByLabel("Organisation", { exact: true }).selectOption({ label: "Acme Works" });
  await page.waitForURL("**/console/acme-works/**");
  await untilShown(page);
  expect((await personAt(browser, gateway.url, "ada@example.test")).page.url()).toContain(
    "/console/acme-works/",
  );
  const choice = page.getByLabel("Organisation", { exact: true });
  await choice.selectOption({ label: "Side Project" });
  await page.waitForURL("**/console/side/**");
  await untilShown(page);
  expect((await personAt(browser, gateway.url, "ada@example.test")).page.url()).toContain("/console/side/");

  const grace = await personAt(browser, gateway.url, "grace@example.test");
  await ada.call("POST", "/v1/orgs/side/members", { body: { email: "grace@example.test", role: "viewer" } });
  await acceptInvitation(grace);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Members" }).click();
  await page.getByRole("link", { name: "ada", exact: true }).click();
  await page.getByText("The only owner who has signed in").waitFor();
  expect(await page.getByRole("button", { name: "Leave organisation" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Change role" }).count()).toBe(0);
  await page.getByRole("link", { name: "All members" }).click();
  await page.getByRole("link", { name: "grace", exact: true }).click();
  await page.getByRole("button", { name: "Hand over the organisation" }).click();
  const asked = page.getByRole("dialog", { name: "Hand over Side Project to grace?" });
  expect(await asked.getByRole("button", { name: "Hand over organisation" }).isDisabled()).toBe(true);
  await asked.getByLabel('Type "side" to confirm').fill("side");
  await asked.getByRole("button", { name: "Hand over organisation" }).click();
  await page.getByText("May do everything, and alone hands the organisation over").waitFor();
  // The reader is an admin now, who has no say over owners.
  expect(await page.getByRole("button", { name: "Hand over the organisation" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Remove member" }).count()).toBe(0);

  await page.getByRole("link", { name: "All members" }).click();
  await page.getByRole("link", { name: "ada", exact: true }).click();
  await page.getByRole("button", { name: "Leave organisation" }).click();
  const leave = page.getByRole("dialog", { name: "Leave Side Project?" });
  await leave.getByText("You have made no key that works.").waitFor();
  await leave.getByRole("button", { name: "Leave organisation" }).click();
  await page.waitForURL("**/console/acme-works/**");
  await untilShown(page);
  expect(ada.told).toEqual([]);
  expectActs("orgs", ada);
});
