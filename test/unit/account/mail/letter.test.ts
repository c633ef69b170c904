/** The two forms of a letter, and how amounts and times are written for an org. */
import { describe, expect, test } from "vitest";
import {
  facts,
  htmlOf,
  type Letter,
  link,
  quote,
  subjectOf,
  text,
  textOf,
} from "../../../../src/account/mail/letter.ts";
import { orgFormat } from "../../../../src/account/mail/org-format.ts";
import { templateNamed, templateOfEvent } from "../../../../src/account/mail/templates.ts";

const letter: Letter = {
  subject: "Subject",
  parts: [
    text("Words of <b>Acme</b> & more"),
    facts(["Name", "“A”"], ["Number", "1"]),
    quote("one\r\ntwo <i>"),
    link("Open", "https://gateway.example/?a=1&b=2"),
  ],
  why: "Because.",
};

describe("a letter", () => {
  test("reads well as plain text", () => {
    expect(textOf(letter)).toBe(
      [
        "Words of <b>Acme</b> & more",
        "Name: “A”\nNumber: 1",
        "> one\n> two <i>",
        "Open:\nhttps://gateway.example/?a=1&b=2",
        "-- \nBecause.\n",
      ].join("\n\n"),
    );
  });

  test("has the same words in HTML, all of them escaped, and loads nothing", () => {
    const page = htmlOf(letter);
    expect(page).toContain(">Words of &lt;b&gt;Acme&lt;/b&gt; &amp; more</p>");
    expect(page).toContain(">one<br>two &lt;i&gt;<br></blockquote>");
    expect(page).toContain('href="https://gateway.example/?a=1&amp;b=2"');
    expect(page).not.toMatch(/<(?:img|script|link)|url\(|@import/);
  });

  test("is light and dark, also where a reader of mails takes no style sheet", () => {
    const page = htmlOf(letter);
    expect(page).toContain('<meta name="color-scheme" content="light dark">');
    expect(page).toContain("@media (prefers-color-scheme:dark)");
    const classes = Array.from(page.matchAll(/class="([^"]+)"/g), ([, names = ""]) =>
      names.split(" "),
    ).flat();
    for (const name of classes) expect(page).toContain(`.${name}{`);
    expect(page.match(/<body[^>]* style="[^"]*background:#f7f8f9/)).not.toBeNull();
  });

  test("has a subject of one bounded line", () => {
    expect(subjectOf({ ...letter, subject: "a\r\nBcc: b\u2028c\u0000d\u0085e" })).toBe("a Bcc: b c d e");
    const long = subjectOf({ ...letter, subject: "🎉".repeat(500) });
    expect(long.length).toBeLessThanOrEqual(200);
    expect(long.isWellFormed()).toBe(true);
    expect(textOf({ ...letter, parts: [quote("x".repeat(1e6))] }).length).toBeLessThan(5000);
  });
});

describe("for an org", () => {
  test.each([
    ["US", 1_234_567_890_000, "$1,234,567.89"],
    ["IN", 1_234_567_890_000, "$12,34,567.89"],
    ["US", 1, "$0.000001"],
    ["US", -5_000_000, "-$5.00"],
    ["DE", Number.MAX_SAFE_INTEGER, "$9,007,199,254.740991"],
  ])("of %s, %i micro-USD are %s %s", (billingCountry, microUsd, shown) => {
    expect(orgFormat({ billingCountry, timeZone: "UTC" }).usd(microUsd)).toBe(shown);
  });

  test("times are in its zone", () => {
    const { time } = orgFormat({ billingCountry: "IN", timeZone: "Asia/Kolkata" });
    expect(time("2026-09-30T18:30:00.000Z")).toBe("1 October 2026 at 00:00 (Asia/Kolkata)");
    expect(orgFormat(undefined).time(0)).toBe("1 January 1970 at 00:00 (UTC)");
  });
});

test("every template has a name of its own, and its event puts no other", () => {
  expect([...templateNamed.keys()].sort()).toEqual([
    "auto_topup_failed",
    "auto_topup_notified",
    "budget_exceeded",
    "credit_note",
    "credits_low",
    "erasure_begun",
    "erasure_requested",
    "invitation",
    "invoice",
    "key_expiring",
    "key_reported",
    "mandate_paused",
    "org_closed",
    "refund_failed",
    "spend_spike",
    "subscription_past_due",
    "ticket_decided",
    "webhook_disabled",
  ]);
  expect([...templateOfEvent].map(([event, { name }]) => [event, name])).toEqual([
    ["ticket.decided", "ticket_decided"],
    ["erasure.requested", "erasure_requested"],
    ["org.closed", "org_closed"],
    ["budget.exceeded", "budget_exceeded"],
    ["spend.spike", "spend_spike"],
    ["credits.low", "credits_low"],
    ["webhook.disabled", "webhook_disabled"],
    ["refund.failed", "refund_failed"],
    ["subscription.past_due", "subscription_past_due"],
    ["auto_topup.notified", "auto_topup_notified"],
    ["auto_topup.failed", "auto_topup_failed"],
    ["mandate.paused", "mandate_paused"],
  ]);
});
