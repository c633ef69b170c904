/**
 * An authority that only tests trust, and a certificate that it signed for `hooks.example.test` and `127.0.0.1`, until 2126.
 * The authority's private key is gone; the other one protects nothing.
 */

const pem = (kind: string, lines: readonly string[]) =>
  `-----BEGIN ${kind}-----\n${lines
    .join("")
    .match(/.{1,64}/g)
    ?.join("\n")}\n-----END ${kind}-----\n`;

export const AUTHORITY = pem("CERTIFICATE", [
  "MIIBmDCCAT+gAwIBAgIUCkVnQGg2tdJq+o/lutLddafD9HAwCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwOVGVzdCBBdXRob3JpdHkwIBcN",
  "MjYxMTIzMDUzMTQ3WhgPMjEyNjEwMzAwNTMxNDdaMBkxFzAVBgNVBAMMDlRlc3QgQXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0D",
  "AQcDQgAEbKdEkNPjlHdiqfRSnLgWp+Xq5ZhiIGJe3+2zlUVL6D2OwIbsiDBWsAzPJT1OGzcrbqmFlNwIBT5rutct+89lRKNjMGEwHQYD",
  "VR0OBBYEFHM34obHpw2g2iAf3dqCCxZoCjD9MB8GA1UdIwQYMBaAFHM34obHpw2g2iAf3dqCCxZoCjD9MA8GA1UdEwEB/wQFMAMBAf8w",
  "DgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0cAMEQCICPqJYxZusONrjPuxl/lH0/YRCCOWn+BoanWBEbHrZsEAiAlbtC2xwWwv+5V",
  "vbWRDNGcS0vEYPaMx51OAJ88uWlPYw==",
]);

export const CERTIFICATE = pem("CERTIFICATE", [
  "MIIBrDCCAVKgAwIBAgIUeDb0A37fT/Qp3bCKrvBBFt7C6MswCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwOVGVzdCBBdXRob3JpdHkwIBcN",
  "MjYxMTIzMDUzMTQ3WhgPMjEyNjEwMzAwNTMxNDdaMB0xGzAZBgNVBAMMEmhvb2tzLmV4YW1wbGUudGVzdDBZMBMGByqGSM49AgEGCCqG",
  "SM49AwEHA0IABFRFowdQahXOwvYjikvxTIxvLL25nr/H7eC5P95uGflALrlRqRcyGEVYlH74FN00HjhL3jb7mZNuIyWet8qWIcGjcjBw",
  "MCMGA1UdEQQcMBqCEmhvb2tzLmV4YW1wbGUudGVzdIcEfwAAATAJBgNVHRMEAjAAMB0GA1UdDgQWBBRmVWLsXA4GAPnvU2TuucY4wdVc",
  "JjAfBgNVHSMEGDAWgBRzN+KGx6cNoNogH93aggsWaAow/TAKBggqhkjOPQQDAgNIADBFAiEA6HxM66ibqjNIsRt30tToF3UvlBAHrd00",
  "EoaPSR32gJMCIEBI+BnX6DwlmzgjM+p8+YHH8abik7DoKKPYIJYRDBAZ",
]);

export const KEY = pem("PRIVATE KEY", [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFPKGNToiR6tPEZMvjQa4dJxef5bgE3wrJGuieaf4hZ2hRANCAARURaMH",
  "UGoVzsL2I4pL8UyMbyy9uZ6/x+3guT/ebhn5QC65UakXMhhFWJR++BTdNB44S942+5mTbiMlnrfKliHB",
]);
