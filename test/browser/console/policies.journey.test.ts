/**
 * A policy from its first letter to its end: an error is shown at its line and mended by completion, versions are saved, activated for the
 * org and for a project, rolled back and deactivated; and somebody who only reads sees all of it and changes nothing.
 */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { acceptInvitation, type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();

let ada: BrowserPerson;
beforeAll(async () => {
  if (world.browser === undefined) return;
  ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
});

const textOf = (page: Page): Promise<string> => page.getByLabel("Policy document").inputValue();
const options = (page: Page) => page.locator(".suggestions [role=option]");
const labels = (page: Page) => page.locator(".suggestions code").allTextContents();

/** Which version of which policy a call of the org's key follows; `none` without one. */
async function followed(): Promise<string> {
  const { headers } = await world.gateway.chat(
    { messages: [{ role: "user", content: "Hello" }] },
    {
      headers: { "x-svc-debug": "1" },
    },
  );
  return /policy=([^; ]*)/.exec(headers.get("x-svc-route-trace") ?? "")?.[1] ?? "none";
}

/** Goes through with what a dialog asks. @returns what it said */
async function confirmed(page: Page, button: string | RegExp): Promise<string> {
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/^From the next call on/).waitFor();
  const said = (await dialog.textContent()) ?? "";
  expect(await cutOff(page)).toEqual([]);
  expect(await accessFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: button }).click();
  await dialog.waitFor({ state: "detached" });
  await untilShown(page);
  return said;
}

test("a policy is written, mended, activated, changed, rolled back and deactivated", async () => {
  const { page } = ada;
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Policies" }).click();
  await page.getByText("There is no policy yet").waitFor();
  await page.getByRole("button", { name: "New policy" }).first().click();
  await page.getByLabel("Name").fill("house");

  // An error is marked at its line, and listed with the way to it.
  const area = page.getByLabel("Policy document");
  await area.fill("version: 1\ndefaults:\n  sort: cheapest\n");
  await page.getByText("1 problem: it cannot be saved").waitFor();
  expect(await page.locator(".editor-gutter [data-mark=bad]").textContent()).toBe("✕ 3");
  expect(await area.getAttribute("aria-invalid")).toBe("true");
  expect(await accessFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Line 3, column 9" }).click();
  expect(await page.evaluate("document.activeElement.selectionStart")).toBe(29);

  // The word is replaced by what the schema offers there, and undo has it back.
  await page.keyboard.press("Shift+End");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Control+Space");
  expect(await labels(page)).toEqual(["price", "latency", "throughput", "balanced"]);
  expect(await accessFaults(page)).toEqual([]);
  expect(await cutOff(page)).toEqual([]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  expect(await textOf(page)).toBe("version: 1\ndefaults:\n  sort: price\n");
  await page.keyboard.press("Control+z");
  expect(await textOf(page)).toBe("version: 1\ndefaults:\n  sort: \n");
  await page.keyboard.press("Control+Shift+z");
  expect(await textOf(page)).toBe("version: 1\ndefaults:\n  sort: price\n");
  await page.getByText("Valid", { exact: true }).waitFor();

  // What is typed stays while one looks at another page.
  await page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link", { name: "Keys", exact: true })
    .click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  await page.goBack();
  expect(await textOf(page)).toBe("version: 1\ndefaults:\n  sort: price\n");
  expect(await page.getByLabel("Name").inputValue()).toBe("house");

  await page.getByRole("button", { name: "Save as version 1" }).click();
  await page.getByRole("heading", { name: "house", level: 1 }).waitFor();
  await page.getByText("draft", { exact: true }).waitFor();
  expect(await followed()).toBe("none");
  await page.getByRole("button", { name: "Activate" }).click();
  expect(await confirmed(page, "Activate version 1")).toContain(
    "From the next call on, version 1 of “house” is in force for the whole organisation, where no policy was.",
  );
  await page.getByText("active", { exact: true }).waitFor();
  expect(await followed()).toBe("house@1");

  // The second version, by typing alone: keys, an item of a list, and an enumeration are completed.
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await area.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("ru");
  await options(page).first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("na");
  await page.keyboard.press("Tab");
  await page.keyboard.type("nightly");
  await page.keyboard.press("Enter");
  await page.keyboard.type("the");
  await page.keyboard.press("Tab");
  await page.keyboard.type("sor");
  await page.keyboard.press("Tab");
  await options(page).first().waitFor();
  expect(await labels(page)).toEqual(["price", "latency", "throughput", "balanced"]);
  await page.keyboard.type("lat");
  await page.keyboard.press("Enter");
  expect(await textOf(page)).toBe(
    "version: 1\ndefaults:\n  sort: price\nrules:\n  - name: nightly\n    then:\n      sort: latency",
  );
  await page.getByText("Valid", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await page.getByRole("heading", { name: "Version 2", level: 2 }).waitFor();

  await page.getByLabel("Compared with").selectOption("1");
  await page.getByText("4 lines added, 0 lines removed.").waitFor();
  expect(new URL(page.url()).search).toBe("?compare=1");
  expect(await page.locator(".diff [data-kind=added] .diff-sign").allTextContents()).toEqual([
    "+",
    "+",
    "+",
    "+",
  ]);
  expect(await accessFaults(page)).toEqual([]);

  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("button", { name: "Activate version 2" }).click();
  await page.getByRole("dialog").getByLabel("For").selectOption({ index: 1 });
  expect(await confirmed(page, "Activate version 2")).toMatch(
    /version 2 of “house” is in force for the project .+, in the place of the organisation's: version 1\./,
  );
  expect(await followed()).toBe("house@2");

  const inForce = page.getByRole("region", { name: "Where it is in force" }).getByRole("row");
  expect(await inForce.count()).toBe(3);
  expect(await inForce.nth(2).textContent()).toContain("ada");
  await inForce.nth(2).getByRole("button", { name: "Roll back to version 1" }).click();
  expect(await confirmed(page, "Roll back to version 1")).toMatch(
    /version 1 of “house” replaces version 2 for the project/,
  );
  expect(await followed()).toBe("house@1");

  await inForce.nth(2).getByRole("button", { name: "Deactivate" }).click();
  expect(await confirmed(page, "Deactivate policy")).toMatch(
    /calls of the project .+ follow the organisation's policy: version 1\./,
  );
  await inForce.nth(1).getByRole("button", { name: "Deactivate" }).click();
  expect(await confirmed(page, "Deactivate policy")).toContain(
    "no policy is in force for the whole organisation",
  );
  await page.getByText("Nowhere.").waitFor();
  expect(await followed()).toBe("none");
  expect(ada.told).toEqual([]);
  expectActs("policies", ada);
});

test("what is refused is shown at its line, names are completed, and the keyboard leaves the text", async () => {
  const { page, told } = ada;
  await ada.open("first/policies/new");
  const area = page.getByLabel("Policy document");
  await page.getByLabel("Name").fill("names");
  await area.fill("version: 1\npolicy: other\n");
  await page.getByText("Valid", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save as version 1" }).click();
  await page.getByRole("button", { name: "Line 2, column 9" }).waitFor();
  expect(await page.locator(".editor-gutter [data-mark=bad]").textContent()).toBe("✕ 2");
  expect(told.splice(0)).toEqual([expect.stringMatching(/ 400 POST .*\/v1\/policies$/)]);

  // Where the cursor is moved to, the words of that place are offered, and what is there is explained.
  await area.click();
  await page.keyboard.press("Control+Home");
  await page.getByText("Version of this grammar.").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByText("The policy's name.").waitFor();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Space");
  expect(await labels(page)).toEqual(["sort", "defaults", "rules"]);

  // The refusal is of the old text.
  await area.fill("version: 1\ndefaults:\n  only: [");
  await page.locator(".editor-gutter [data-mark=bad]", { hasText: "2" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Control+Space");
  await options(page).filter({ hasText: "ep_" }).first().waitFor();
  await page.keyboard.press("Escape");
  await options(page).first().waitFor({ state: "detached" });
  await page.keyboard.press("Tab");
  expect(await textOf(page)).toBe("version: 1\ndefaults:\n  only: [ ");
  await page.keyboard.press("Shift+Tab");
  expect(await textOf(page)).toBe("version: 1\ndefaults:\nonly: [ ");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.tagName")).not.toBe("TEXTAREA");
  await page.getByRole("button", { name: "Discard changes" }).click();
  expect(await page.getByLabel("Name").inputValue()).toBe("");
  expect(told).toEqual([]);
});

test("a version that this release does not take says where, and leads to the editor", async () => {
  const { page, told } = ada;
  await ada.call("POST", "/v1/policies", { body: { name: "old", yaml: "version: 1\nsort: price\n" } });
  const problem = { path: "/sort", message: "an old word", line: 2, column: 7 };
  await page.route("**/v1/policies/old/activate", (route) =>
    route.fulfill({
      status: 409,
      json: {
        error: { code: "state", message: "The version is not valid.", details: { problems: [problem] } },
      },
    }),
  );
  await ada.open("first/policies/old");
  await page.getByRole("button", { name: "Activate version 1" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Activate version 1" }).click();
  await dialog.getByText("Line 2, column 7").waitFor();
  await dialog.getByText("an old word").waitFor();
  expect(told.splice(0)).toEqual([expect.stringMatching(/ 409 POST .*\/v1\/policies\/old\/activate$/)]);
  await dialog.getByRole("link", { name: "Mend it as a new version" }).click();
  await page.getByRole("heading", { name: "The next version" }).waitFor();
  expect(await textOf(page)).toBe("version: 1\nsort: price\n");
  expect(told).toEqual([]);
});

test("a viewer sees policies, versions and differences, and can change none", async () => {
  await ada.call("POST", "/v1/orgs/first/members", { body: { email: "vi@example.test", role: "viewer" } });
  const yaml = "version: 1\nsort: price\n";
  await ada.call("POST", "/v1/policies", { body: { name: "shown", yaml } });
  await ada.call("POST", "/v1/policies/shown/versions", { body: { yaml: `${yaml}rules: []\n` } });
  const vi = await personAt(world.browser, world.gateway.url, "vi@example.test");
  await acceptInvitation(vi);
  const { page } = vi;
  await vi.open("first/policies");
  await page.getByRole("link", { name: "shown" }).click();
  await page.getByText("Nowhere.").waitFor();
  await untilShown(page);
  const buttons = page.locator("main").getByRole("button");
  expect(await buttons.allTextContents()).toEqual([]);
  expect(await page.getByRole("link", { name: "Edit", exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "Compare with 1" }).click();
  await page.getByText("1 line added, 0 lines removed.").waitFor();
  expect(await buttons.allTextContents()).toEqual(["Copy"]);
  for (const path of ["policies/new", "policies/shown/edit"]) {
    await vi.open(`first/${path}`);
    await page.getByText("Not open to your role").waitFor();
    expect(await page.locator("textarea").count()).toBe(0);
  }
  expect(vi.told).toEqual([]);
  expect(vi.acts.filter((act) => /policies\/(?!validate)/.test(act))).toEqual([]);
});
