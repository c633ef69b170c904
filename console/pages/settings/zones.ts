/** Time zones that a form offers. Pure. */

/** Those that the browser knows, in their order, with UTC and the one that is set. @param set IANA name */
export function zonesWith(set: string): readonly string[] {
  const known = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return [...new Set([...known, set])].sort();
}
