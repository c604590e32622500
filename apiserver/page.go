package apiserver

// approvalsPage is where people see what waits for them and decide, for clients that show nothing of it.
const approvalsPage = "/copilot/approvals"
