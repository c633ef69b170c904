/** Addresses that only this machine reaches. */

/** Names of this machine, IPv6 in brackets as in a URL. */
export const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
