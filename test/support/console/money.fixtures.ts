/** What journeys about money do on pages: credit is bought through to the money, on the simulated payment service's own page. */
import type { Page } from "playwright-core";

/** Opens what a link of the page opens in a tab of its own. */
export async function tabOf(page: Page, link: string): Promise<Page> {
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("link", { name: link }).click(),
  ]);
  return tab;
}

/** Buys credit from the page that is shown, which has the button for it. @param amount as typed @param total as the page says it with tax */
export async function buyCredit(page: Page, amount: string, total: string): Promise<void> {
  await page.getByRole("button", { name: "Buy credit" }).click();
  await page.getByLabel("Amount before tax").fill(amount);
  await page.getByRole("button", { name: `Continue to pay ${total}` }).click();
  const checkout = await tabOf(page, `Pay ${total}`);
  await checkout.getByRole("button", { name: `Pay ${total}` }).click();
  await checkout.waitForURL("**/billing/topups/**");
  await checkout.close();
  await page.getByText(`${total} has arrived`).waitFor();
}
