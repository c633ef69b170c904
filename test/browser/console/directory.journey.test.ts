/** The directory of an org: its token is made, an identity provider adds a user by it, the log shows that, and the token is replaced and revoked. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { CORE_USER, directoryAt } from "../../support/scim/scim.fixtures.ts";

const world = consoleWorld();

test("a directory is connected, watched and cut off", async () => {
  const { url } = world.gateway;
  const ada = await personAt(world.browser, url, "ada@example.test");
  const { page } = ada;
  await ada.open("first/settings/directory");
  const shown = page.getByRole("dialog", { name: "The directory's token" });
  const tokenOf = async () => {
    const token = (await shown.locator(".secret code").textContent()) ?? "";
    // Neither Escape nor a click beside it loses the token.
    await page.keyboard.press("Escape");
    expect(await shown.isVisible()).toBe(true);
    await shown.getByRole("button", { name: "I have stored it" }).click();
    return token;
  };
  await page.getByRole("button", { name: "Make a token" }).click();
  const token = await tokenOf();
  expect(token).toMatch(/^svc-scim-/);
  expect(await page.content()).not.toContain(token);

  const directory = directoryAt(url, token);
  const user = (name: string, emails: object[] = []) => ({ schemas: [CORE_USER], userName: name, emails });
  const bo = user("bo@example.test", [{ value: "bo@example.test", type: "work", primary: true }]);
  expect((await directory.call("POST", "/Users", { body: bo })).status).toBe(201);
  expect((await directory.call("POST", "/Users", { body: bo })).status).toBe(409);
  await page.getByRole("button", { name: "Refresh" }).click();
  const added = page.getByRole("row").filter({ hasText: "Add a user" });
  await added.filter({ hasText: "done" }).getByText("bo@example.test").waitFor();
  await added.filter({ hasText: "refused, 409" }).waitFor();
  const { json: members } = await ada.call("GET", "/v1/orgs/first/members", { org: "first" });
  expect(members.data.map(({ email }: { email: string }) => email)).toContain("bo@example.test");
  expect(await cutOff(page)).toEqual([]);

  await page.getByRole("button", { name: "Replace token" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replace token" }).click();
  const next = await tokenOf();
  await page.getByText("The one before works until").waitFor();
  expect((await directory.call("GET", "/Users", { token: next })).status).toBe(200);
  expect((await directory.call("GET", "/Users")).status).toBe(200);

  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("revoked", { exact: true }).waitFor();
  expect((await directory.call("GET", "/Users", { token: next })).status).toBe(401);
  expect((await directory.call("GET", "/Users")).status).toBe(401);
  // Before there is a token the page asks for it and is told so.
  expect(ada.told.splice(0).filter((line) => !/: 404 GET .*\/v1\/org\/scim\/token$/.test(line))).toEqual([]);
  expectActs("directory", ada);
});
