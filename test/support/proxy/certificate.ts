/** A certificate for `provider.test`, `proxy.test` and `localhost` that nobody has signed, until 2126. Nothing else trusts it. */

const pem = (kind: string, lines: readonly string[]) =>
  `-----BEGIN ${kind}-----\n${lines.join("").replace(/.{64}/g, "$&\n")}\n-----END ${kind}-----\n`;

/** Its public part. */
export const CERTIFICATE = pem("CERTIFICATE", [
  "MIIBujCCAWCgAwIBAgIUP6p2MUPuH5n5wmZUEHULhRmVYxUwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNcHJvdmlkZXIudGVzdDAgFw0y",
  "NjExMjkwNDE1MDFaGA8yMTI2MTEwNTA0MTUwMVowGDEWMBQGA1UEAwwNcHJvdmlkZXIudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH",
  "A0IABKgwuHZz/ercUAHFgXMPQmw0ZG0SI7+rpe9qILjRIkgeW0MBczVg5b5LEnFbjcvDyAG5KK5bADuReXNb0Tss786jgYUwgYIwHQYD",
  "VR0OBBYEFEixaEWIXuHvdckDOdPzKs0zMNFaMB8GA1UdIwQYMBaAFEixaEWIXuHvdckDOdPzKs0zMNFaMA8GA1UdEwEB/wQFMAMBAf8w",
  "LwYDVR0RBCgwJoINcHJvdmlkZXIudGVzdIIKcHJveHkudGVzdIIJbG9jYWxob3N0MAoGCCqGSM49BAMCA0gAMEUCIQCh/6yQCYYlSmiM",
  "0TwiGZi3ykg6wb0CKh0epddoVinH/gIgf/mVOBRxCU2cIYpemXp3+LO/NratVMprVTbXXsC/xaU=",
]);

/** Its private part, which protects nothing. */
export const KEY = pem("PRIVATE KEY", [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgA7cM4vGTf3GZoSzFN7JGOGjo8Ejp0+TrWvL8ay8IEHShRANCAASoMLh2",
  "c/3q3FABxYFzD0JsNGRtEiO/q6XvaiC40SJIHltDAXM1YOW+SxJxW43Lw8gBuSiuWwA7kXlzW9E7LO/O",
]);
