/** The last line of mails that an org gets about itself. All of them are owed, so none can be unsubscribed from. */
export const whyOrgMail = (orgName: string): string =>
  `You get this mail because your address is the billing address of “${orgName}”, or you own or administer it.`;
