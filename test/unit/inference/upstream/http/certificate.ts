/** A certificate for `localhost` that nobody has signed, until 2126, for tests of TLS. Nothing else trusts it. */

const pem = (kind: string, lines: readonly string[]) =>
  `-----BEGIN ${kind}-----\n${lines.join("").replace(/.{64}/g, "$&\n")}\n-----END ${kind}-----\n`;

/** Its public part. */
export const CERTIFICATE = pem("CERTIFICATE", [
  "MIIBlTCCATugAwIBAgIUH2aJyOCW5YB9lujyQsREkyeVcSswCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2",
  "MTEyMjIzNTUxOVoYDzIxMjYxMDI5MjM1NTE5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC",
  "AASvEc/DHc35wz/tu307nvHIbtl7MWnTC8lYI8CWBACjrPHUTH2txCOVg3mXHeQRH9PhI/LNrsnSDrPPKwr5yz7Eo2kwZzAdBgNV",
  "HQ4EFgQUGJ6YRmhe87tsWD+DSyrV0+hJqRcwHwYDVR0jBBgwFoAUGJ6YRmhe87tsWD+DSyrV0+hJqRcwDwYDVR0TAQH/BAUwAwEB",
  "/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIhANWaLXKOjTTNbMxtOpNxtaWSlkwUysK1iWOkZWPxHHdr",
  "AiAMXKsRltNYM0bYSBjJTlDuuNlqlsLnhz0gAmHLv2OpeQ==",
]);

/** Its private part, which protects nothing. */
export const KEY = pem("PRIVATE KEY", [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg31kya+ZZheZm85xTpDlIfVSEGDJC8huHEPBqm15yPOmhRANCAASv",
  "Ec/DHc35wz/tu307nvHIbtl7MWnTC8lYI8CWBACjrPHUTH2txCOVg3mXHeQRH9PhI/LNrsnSDrPPKwr5yz7E",
]);
