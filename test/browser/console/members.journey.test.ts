/**
 * A viewer is invited by mail, opens the mail's link in a browser of their own, accepts, and sees what a viewer may and no more; is made a
 * member, makes a key, and is removed with it. Somebody else declines, and an invitation is taken back.
 */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { until } from "../../support/wait.ts";

const world = consoleWorld();

/** In front of the mail to an address: the address of its first link. */
async function linkOfMail(page: Page, email: string): Promise<string> {
  await until(
    `the mail to ${email} is there`,
    async () => (await page.goto(`${world.gateway.url}/dev/mail`)) && (await page.content()),
    (seen) => seen?.includes(email),
  );
  await page.getByRole("listitem").filter({ hasText: email }).getByRole("link").first().click();
  return (await page.frameLocator("iframe").getByRole("link").first().getAttribute("href")) ?? "";
}

/** Opens the link of the invitation's mail in a browser of its own, signed in with that address. */
async function guestAt(email: string, name: string) {
  const guest = await world.browser.open({ viewport: { width: 1280, height: 800 } });
  const link = await linkOfMail(guest.page, email);
  await guest.page.goto(link);
  await guest.page.getByRole("link", { name: "Sign in" }).click();
  await guest.page.getByLabel("E-mail address").fill(email);
  await guest.page.getByLabel("Name").fill(name);
  await guest.page
    .getByRole("button", { name: /sign in/i })
    .last()
    .click();
  await guest.page.waitForURL("**/auth/invitations/*");
  return guest;
}

const callWith = (secret: string) =>
  world.gateway.chat({ max_tokens: 5, messages: [{ role: "user", content: "Hi" }] }, { key: secret });

test("a viewer is invited, accepts, becomes a member, and is removed with their key", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Members" }).click();
  for (const [email, role] of [
    ["vera@example.test", "viewer"],
    ["dan@example.test", "member"],
    ["late@example.test", "billing"],
  ] as const) {
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("radio", { name: new RegExp(`^${role}`) }).check();
    await page.getByRole("button", { name: "Send invitation" }).click();
    await page.getByText(`is invited as ${role}`).waitFor();
    await page.getByRole("link", { name: "All members" }).click();
  }
  const rowOf = (email: string) => page.getByRole("row").filter({ hasText: email });
  await rowOf("vera@example.test").getByRole("button", { name: "Send again" }).click();
  await page.getByText("The mail to vera@example.test is on its way again.").waitFor();
  await rowOf("late@example.test").getByRole("link").click();
  await page.getByRole("button", { name: "Take back invitation" }).click();
  const takeBack = page.getByRole("dialog", { name: /Take back the invitation/ });
  await takeBack.getByRole("button", { name: "Take back invitation" }).click();
  await rowOf("vera@example.test").waitFor();
  expect(await rowOf("late@example.test").count()).toBe(0);

  const dan = await guestAt("dan@example.test", "Dan");
  await dan.page.getByRole("button", { name: "Decline" }).click();
  await dan.page.getByText("You have declined.").waitFor();
  await dan.page.reload();
  await dan.page.getByRole("heading", { name: "No invitation" }).waitFor();

  const vera = await guestAt("vera@example.test", "Vera");
  const main = vera.page.getByRole("main");
  await main.getByText("ada@example.test invites you").waitFor();
  await main.getByText("reads usage, requests, keys, policies and credit, and changes nothing").waitFor();
  expect(await cutOff(vera.page)).toEqual([]);
  expect(await accessFaults(vera.page)).toEqual([]);
  await main.getByRole("button", { name: "Accept" }).click();
  await main.getByText("You are a member.").waitFor();
  await main.getByRole("button", { name: "Open the console" }).click();
  await vera.page.waitForURL("**/console/first/**");
  const hers = vera.page.getByRole("navigation", { name: "Pages" });
  await hers.getByRole("link", { name: "Members" }).click();
  await vera.page.getByRole("row").filter({ hasText: "ada@example.test" }).waitFor();
  expect(await vera.page.getByRole("button", { name: "Invite somebody" }).count()).toBe(0);
  await hers.getByRole("link", { name: "Keys", exact: true }).click();
  await untilShown(vera.page);
  expect(await vera.page.getByRole("button", { name: "New key" }).count()).toBe(0);
  await vera.page.goto(`${world.gateway.url}/console/first/members/new`);
  await vera.page.getByText("Not open to your role.").waitFor();

  await page.reload();
  await rowOf("vera@example.test").getByRole("link").click();
  await page.getByRole("heading", { name: "Vera", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByRole("radio", { name: /^member/ }).check();
  await page.getByRole("button", { name: "Save role" }).click();
  await page.getByText("Works with models").waitFor();

  await vera.page.goto(`${world.gateway.url}/console/first/keys/new`);
  await vera.page.getByLabel("Name").fill("Vera's notebook");
  await vera.page.getByRole("button", { name: "Create key" }).click();
  const stored = vera.page.getByRole("dialog", { name: "The secret of" });
  const secret = (await stored.locator("code").textContent()) ?? "";
  await stored.getByRole("button", { name: "I have stored it" }).click();
  expect((await callWith(secret)).status).toBe(200);

  await page.reload();
  await page.getByRole("link", { name: "Vera's notebook" }).waitFor();
  await page.getByRole("button", { name: "Remove member" }).click();
  const remove = page.getByRole("dialog", { name: "Remove Vera?" });
  await remove.getByText("One key that they made").waitFor();
  await remove.getByText("Vera's notebook").waitFor();
  expect(await cutOff(page)).toEqual([]);
  await remove.getByRole("checkbox", { name: /^Revoke it/ }).check();
  await remove.getByRole("button", { name: "Remove member and revoke keys" }).click();
  await page.getByRole("heading", { name: "Members", level: 1 }).waitFor();
  await untilShown(page);
  expect(await rowOf("vera@example.test").count()).toBe(0);
  expect((await callWith(secret)).status).toBe(401);
  await vera.page.goto(`${world.gateway.url}/console`);
  await vera.page.getByRole("heading", { name: "You are in no organisation yet" }).waitFor();

  expect([...ada.told, ...vera.told, ...dan.told]).toEqual([]);
  expectActs("members", ada, vera, dan);
});
