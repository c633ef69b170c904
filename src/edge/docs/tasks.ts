/** What readers come for, in their words, and the routes that do it. A test compares the names with the table of routes. */

export interface Task {
  readonly want: string;
  /** Operation ids, the first one first. */
  readonly by: readonly string[];
}

export interface TaskGroup {
  readonly title: string;
  readonly tasks: readonly Task[];
}

export const TASKS: readonly TaskGroup[] = [
  {
    title: "Call models",
    tasks: [
      { want: "Chat with the SDK of OpenAI", by: ["createChatCompletion", "createResponse"] },
      { want: "Chat with the SDK of Anthropic", by: ["createMessage", "countMessageTokens"] },
      { want: "Chat in the gateway's own format", by: ["generate"] },
      { want: "Make embeddings, rank documents", by: ["createEmbeddings", "rerank"] },
      { want: "Find a model, its prices and limits", by: ["listModels", "getModelEndpoints"] },
      { want: "Know what a call may cost before it is made", by: ["dryRun", "countTokens"] },
      {
        want: "Leave a long call and come back to it",
        by: ["createResponse", "getResponse", "readCallStream"],
      },
      { want: "Stop a call", by: ["cancelCall", "cancelResponse"] },
      { want: "Keep a conversation here", by: ["createConversation", "createResponse"] },
    ],
  },
  {
    title: "Keys, limits, budgets",
    tasks: [
      { want: "Make a key with limits and a budget", by: ["createKey"] },
      { want: "Give a project a budget of the month", by: ["createProject", "updateProject"] },
      { want: "See what is left of limits and budgets", by: ["getLimits", "getBudgets"] },
      { want: "Replace a secret without an interruption", by: ["rotateKey"] },
      { want: "End a key that leaked", by: ["revokeKey", "reportKey"] },
      { want: "Ask for higher limits", by: ["requestLimits"] },
      { want: "Use your own key at a provider", by: ["createProviderKey"] },
    ],
  },
  {
    title: "Choose endpoints",
    tasks: [
      {
        want: "Write a policy, check it, switch it on",
        by: ["validatePolicy", "createPolicy", "activatePolicy"],
      },
      { want: "Try a policy on one call, or on last week's traffic", by: ["dryRunPolicy"] },
      { want: "Go back to the version before", by: ["listPolicyVersions", "activatePolicy"] },
      { want: "Read how a canary or an experiment does", by: ["listCanaries", "listExperiments"] },
    ],
  },
  {
    title: "See what happened",
    tasks: [
      { want: "Find a call, and why it failed", by: ["listRequests", "getRequest"] },
      { want: "Sum up spend by model, key or project", by: ["getUsage", "exportUsage"] },
      { want: "Watch calls as they come", by: ["tailRequests", "watchLive"] },
      { want: "Prove what a call cost", by: ["getReceipt", "getReceiptKeys"] },
      { want: "Ask in SQL", by: ["createAnalyticsUser"] },
      { want: "Know who changed what", by: ["listAudit", "listEvents"] },
    ],
  },
  {
    title: "Pay",
    tasks: [
      { want: "Read the balance and the ledger", by: ["getCredits", "listLedger"] },
      { want: "Buy credit", by: ["quoteTopup", "createTopup"] },
      { want: "Buy credit by itself when it runs low", by: ["createMandate", "setAutoTopup"] },
      { want: "Get money back", by: ["refundTopup"] },
      { want: "Fetch invoices", by: ["listInvoices", "getInvoicePdf", "exportInvoices"] },
      { want: "Change the plan", by: ["listPlans", "changeSubscription"] },
    ],
  },
  {
    title: "People and settings",
    tasks: [
      { want: "Invite somebody, change a role", by: ["addMember", "updateMember"] },
      { want: "Keep, hide or forget what calls say", by: ["updateOrg", "previewRedaction"] },
      { want: "Be told of events", by: ["createWebhook", "testWebhook", "listDeliveries"] },
      { want: "Let a company's directory manage people", by: ["createScimToken", "scimCreateUser"] },
      { want: "Take the data along, close, erase", by: ["exportOrg", "closeOrg", "requestErasure"] },
    ],
  },
];
