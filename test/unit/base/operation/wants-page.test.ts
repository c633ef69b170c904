/** Which clients get a page: those that like HTML best. */
import { expect, test } from "vitest";
import { wantsPage } from "../../../../src/base/operation/wants-page.ts";

test.each([
  "text/html",
  "TEXT/HTML; charset=utf-8",
  // Chromium, Firefox and Safari, when an address is opened.
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "application/json;q=0.5, text/html",
  "application/xhtml+xml",
])("a page: %s", (accept) => expect(wantsPage(accept)).toBe(true));

test.each([
  "",
  "*/*",
  "text/*",
  "application/json",
  "application/json, text/html",
  "application/json, text/plain, */*",
  "*/*, text/html",
  "text/html;q=0",
  "text/html;q=0.4, application/json;q=0.5",
  "text/html;q=lots",
  "text/htmlx",
  "image/avif,image/webp,*/*;q=0.8",
  `${"a/b,".repeat(5000)}text/html`,
])("no page: %s", (accept) => expect(wantsPage(accept)).toBe(false));
