/** Refusals by firewalls before providers, and by providers themselves. */
import { describe, expect, test } from "vitest";
import {
  answerFailure,
  mayFallBack,
  mayPass,
  withoutCredential,
} from "../../../../src/inference/upstream/failure.ts";

const failureOf = (status: number, body: string, headers = {}) =>
  answerFailure(status, headers, Buffer.from(body), 0);

const CLOUDFLARE = { server: "cloudflare" };
const NGINX = "<html>\r\n<head><title>403 Forbidden</title></head>\r\n<body>\r\n<center>nginx</center>";

describe("is of a firewall", () => {
  test.each<readonly [status: number, body: string, headers: object, told: string]>([
    [
      403,
      "<!DOCTYPE html><html><head><title>Just a moment...</title>",
      { "cf-mitigated": "challenge" },
      "Just a moment...",
    ],
    [
      403,
      "<!doctype HTML>\n<html><title>Attention Required! | Cloudflare</title>",
      CLOUDFLARE,
      "Attention Required! | Cloudflare",
    ],
    [403, NGINX, {}, "403 Forbidden"],
    [403, `\ufeff \r\n${NGINX}`, {}, "403 Forbidden"],
    [
      403,
      '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "x"><html><title>Blocked</title>',
      {},
      "Blocked",
    ],
    [403, "<!-- blocked -->\n<html><title>Web Page Blocked</title>", {}, "Web Page Blocked"],
    [403, "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD>", { server: "AkamaiGHost" }, "Access Denied"],
    [406, "<head><title>Not Acceptable!</title>", {}, "Not Acceptable!"],
    [451, "<html><title>Unavailable For Legal Reasons</title>", {}, "Unavailable For Legal Reasons"],
    [403, "error code: 1010", CLOUDFLARE, "error code: 1010"],
    [403, "", { server: "Cloudflare" }, ""],
    [403, "", { "cf-mitigated": "challenge" }, ""],
    [
      403,
      '{"type":"https://developers.cloudflare.com/e/1020","title":"Error 1020: Access denied","status":403,"detail":"The site owner has blocked this request.","error_code":1020,"cloudflare_error":true}',
      CLOUDFLARE,
      "The site owner has blocked this request.",
    ],
  ])("%s %j %j", (status, body, headers, told) => {
    const failed = withoutCredential(failureOf(status, body, headers), undefined);
    expect(failed).toMatchObject({
      outcome: "http_error",
      errorClass: "server",
      refusal: { row: "http.firewall" },
      upstream: { code: "firewall_page", message: told },
    });
    expect([mayFallBack(failed), mayPass(failed)]).toEqual([true, true]);
  });
});

describe("is the provider's own", () => {
  test.each<readonly [status: number, body: string, headers: object, errorClass: string]>([
    [403, '{"error":{"message":"You are not allowed to sample from this model"}}', CLOUDFLARE, "auth"],
    [403, '{"error":"<html> is not allowed"}', CLOUDFLARE, "auth"],
    [403, '[{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no"}}]', CLOUDFLARE, "auth"],
    [403, "Forbidden", {}, "auth"],
    [403, "Forbidden", { server: "nginx" }, "auth"],
    [403, "", {}, "auth"],
    [403, "<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>no</Message></Error>", {}, "auth"],
    [403, "<Error><Code>SignatureDoesNotMatch</Code></Error>", {}, "auth"],
    [401, "<html><title>401 Authorization Required</title>", CLOUDFLARE, "auth"],
    [
      429,
      "<html><title>Too Many Requests</title>",
      { ...CLOUDFLARE, "cf-mitigated": "challenge" },
      "capacity",
    ],
    [503, "<html><title>Just a moment...</title>", CLOUDFLARE, "capacity"],
    [413, "<html><title>413 Request Entity Too Large</title>", CLOUDFLARE, "client"],
    [502, "<html><title>502 Bad gateway</title>", CLOUDFLARE, "server"],
  ])("%s %j %j", (status, body, headers, errorClass) => {
    const failed = failureOf(status, body, headers);
    expect(failed.errorClass).toBe(errorClass);
    expect(failed.refusal?.row).not.toBe("http.firewall");
  });
});
