/** Errors as pages: each says what to do, and no text of a message becomes markup. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS, type ErrorName, fail } from "../../../../src/base/errors.ts";
import { FACE, LOOK } from "../../../../src/base/look.ts";
import { errorPage } from "../../../../src/edge/pages/error-page.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const ID = "01M3Z0Q4X9T6R1V8C2B7N5K0WD";

test.each(Object.keys(ERRORS) as ErrorName[])("%s is told with what to do, and with its request", (kind) => {
  const page = errorPage(fail(kind, "It went wrong."), ID, "/v1/keys");
  const { status, code } = ERRORS[kind];
  expect(page).toMatch(/<main><h1>[A-Z][^<]+<\/h1>\n<p>It went wrong\.<\/p>\n<p>[A-Z][^<]+\./);
  expect(page).toContain(`Status ${status}, <code>${code}</code>. Request <code>${ID}</code>`);
  for (const place of ["/", "/console", "/docs"]) expect(page).toContain(`<a href="${place}">`);
  expect(page).not.toContain("<script");
});

test("markup of a message is text", () => {
  const message = `There is no <script>alert("x")</script> & '<img src=x onerror=y>'.`;
  const page = errorPage(fail("not_found", message), `${ID}"><b>`, "/v1/keys");
  expect(page).toContain(
    "There is no &lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;&lt;img src=x onerror=y&gt;&#39;.",
  );
  expect(page).not.toMatch(/<script|<img|<b>/);
});

test("signing in is offered where it helps, and a wait is told in seconds", () => {
  expect(errorPage(fail("session_expired", "It is over."), ID, "/v1/keys")).toContain(
    'href="/auth/login?return_to=%2Fv1%2Fkeys"',
  );
  expect(errorPage(fail("not_found", "It is not there."), ID, "/v1/keys")).not.toContain(
    'href="/auth/login?return_to=%2Fv1%2Fkeys"',
  );
  expect(errorPage(fail("rpm", "Too many.", { retryAfterMs: 400 }), ID, "/v1/keys")).toContain(
    "in 1 second.",
  );
  expect(errorPage(fail("rpm", "Too many.", { retryAfterMs: 4200 }), ID, "/v1/keys")).toContain(
    "in 5 seconds.",
  );
});

test("the colours of what is read without style sheets are those of the console", () => {
  const tokens = readFileSync(join(ROOT, "console/styles/tokens.css"), "utf8");
  for (const [name, { light, dark }] of Object.entries(LOOK))
    expect(tokens).toContain(`--${name}: light-dark(${light}, ${dark});`);
  expect(tokens).toContain(`--face: ${FACE};`);
});

test("the tokens of these pages are those of the console", () => {
  const tokens = (path: string) => readFileSync(join(ROOT, path), "utf8").split("\n").slice(1).join("\n");
  expect(tokens("src/edge/assets/tokens.css"), "copy console/styles/tokens.css, but for its first line").toBe(
    tokens("console/styles/tokens.css"),
  );
});
