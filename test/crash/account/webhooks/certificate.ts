/**
 * An authority that only one test trusts, and a certificate of it for `rebind.example.com`, both for a hundred years. The
 * authority's private key is gone; the other one protects nothing.
 */

const pem = (kind: string, parts: readonly string[]): string =>
  `-----BEGIN ${kind}-----\n${parts.join("").replace(/.{1,64}/g, "$&\n")}-----END ${kind}-----\n`;

export const AUTHORITY = pem("CERTIFICATE", [
  "MIIBoTCCAUegAwIBAgIUKtP4d7wkKeaR7in7TpjpNesdLAYwCgYIKoZIzj0EAwIwJTEjMCEGA1UEAwwaVGVzdCBhdXRob3JpdHkg",
  "b2Ygd2ViaG9va3MwIBcNMjYxMTIzMDYyOTE4WhgPMjEyNjEwMzAwNjI5MThaMCUxIzAhBgNVBAMMGlRlc3QgYXV0aG9yaXR5IG9m",
  "IHdlYmhvb2tzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAM/uiAoS+Y666LAgWumknBfWVJJJNXsQG6g3flpu2wN2RpcLXocG",
  "MiXMMH9MKIMeVg2P/h28KaB//Lt0xn5A0KNTMFEwHQYDVR0OBBYEFAwpPZDlOg8FuK+i3/Ob+q6sK15gMB8GA1UdIwQYMBaAFAwp",
  "PZDlOg8FuK+i3/Ob+q6sK15gMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgGAmRyPWTmSinbcF042mUX76XRWYd",
  "GL+2Y6OZHj+kTVUCIQDx496IbH0By11asbPMi58WVR279gVIrSaUQgRxIgac+Q==",
]);

export const CERTIFICATE = pem("CERTIFICATE", [
  "MIIBpjCCAU2gAwIBAgIUe7+395rMA7ndU7rY1wmYx8m+xi4wCgYIKoZIzj0EAwIwJTEjMCEGA1UEAwwaVGVzdCBhdXRob3JpdHkg",
  "b2Ygd2ViaG9va3MwIBcNMjYxMTIzMDYyOTE4WhgPMjEyNjEwMzAwNjI5MThaMB0xGzAZBgNVBAMMEnJlYmluZC5leGFtcGxlLmNv",
  "bTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLYUS7zZfM8L6UVnb9HBQe1sXfdz60P1AHZwk3ajMwkf+UB/8tICzDKSoq6M0iW5",
  "KlVW4cyw/Oguj1wcUHTTzK6jYTBfMB0GA1UdEQQWMBSCEnJlYmluZC5leGFtcGxlLmNvbTAdBgNVHQ4EFgQUlXgWgLAT+xdsZSYq",
  "Wvesi+hnWH8wHwYDVR0jBBgwFoAUDCk9kOU6DwW4r6Lf85v6rqwrXmAwCgYIKoZIzj0EAwIDRwAwRAIgNd9aVqYZYNjgubOlZr9q",
  "dnLzQxf1B3Cjci8c5hQteTcCIEM7SXzusMYwvRyKK9cVWmUV9Uq1z+RjyAooXthSgP6d",
]);

export const KEY = pem("PRIVATE KEY", [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPvLMv27PPSE19quzo2clJjMH7zPgz4zdZ2Dy9tOR6nyhRANCAAS2",
  "FEu82XzPC+lFZ2/RwUHtbF33c+tD9QB2cJN2ozMJH/lAf/LSAswykqKujNIluSpVVuHMsPzoLo9cHFB008yu",
]);
