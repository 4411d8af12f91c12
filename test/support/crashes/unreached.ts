/** Calls of ports that no run comes to, by the reason. All others are points of the matrix. */
const BY_REASON: Readonly<Record<string, string>> = {
  "An operator calls it, by a command or a page: no process that serves and works does.": `
    accounts.findByExternalIds accounts.insertAccounts accounts.insertKeys accounts.isEmpty accounts.listAccounts
    accounts.listKeys accounts.revokeKey accounts.revokeKeys accounts.updateAccount
    adminTokens.findAdminToken adminTokens.insertAdminToken adminTokens.listAdminTokens adminTokens.revokeAdminToken
    auditLog.append auditLog.findHead auditLog.has auditLog.list auditLog.lockHead auditLog.page
    activity.activityIn growth.size growth.tableSizes installation.keepFirst installation.tryLock
    jobs.listEnded jobs.listJobs jobs.lockJobs ledger.audit ledger.entriesOfJob ledger.findByReference
    ledger.listEntries library.namedAudioKeys provider.probe queue.check
    webhooks.deliveriesOfJob webhooks.dropPending webhooks.findDelivery webhooks.listAllEndpoints
    webhooks.listDeliveries webhooks.listDeliveryAttempts`,
  "It archives the ledger, which an operator does once a month.": `
    ledger.archivable ledger.checksumOf ledger.fold ledger.listArchives ledger.listOpenings ledger.unfold
    ledger.writeArchive`,
  "It erases an account or what is past its time, which a run of seconds has none of.": `
    audio.delete callbacks.deleteOld erasures.endedJobs erasures.eraseJobs erasures.eraseRows erasures.eraseTrack
    erasures.eraseTracks erasures.eraseUploads erasures.findDeletion erasures.forgetFiles erasures.hasUploads
    erasures.insertDeletion erasures.isDeleted erasures.isNotedFile erasures.listPlaylists erasures.listTracks
    erasures.listUploads erasures.liveJobs erasures.noteFiles erasures.postponeFiles erasures.writeDeletion
    idempotency.deleteExpired installation.keep jobs.deleteAttempts jobs.deleteRequests jobs.deleteSplitOutputs
    jobs.liveJobFrom rateCounts.deleteEnded requestLog.deleteOld requestLog.deleteOldCounts
    requestLog.deleteOldCredits uploads.deleteUnstored uploads.findUploads webhooks.deleteOld`,
  "The client of the scenario does not ask for it: it only reads, or writes one row.": `
    idempotency.updateResponse jobs.countWaitingBefore jobs.endNumberBefore jobs.findByReferences jobs.lastEndNumber
    jobs.listEnds jobs.listShownJobs jobs.numberEnds library.findSharedTrack library.lockTrack
    library.shareTrack library.unshareTrack requestLog.listCounts webhooks.countPending webhooks.deleteEndpoint
    webhooks.findEvents webhooks.listEndpoints webhooks.listEvents webhooks.lockEndpoint webhooks.saveEndpoint`,
  "The limits of requests are counted in the process.": `
    rateCounts.insertCounts rateCounts.lockCounts rateCounts.replaceCounts`,
  "The provider has no public address to report to, and is polled for one work at a time.": `
    callbacks.countOf callbacks.insert provider.parseCallback provider.pollMany`,
  "The adapter, or the provider, has no such method.": "audio.close audio.linkTo provider.close",
  "A thread of its own renews leases, on a connection of its own.": "jobs.renewLeases",
  "It takes an app that embeds Fermata.": "unitOfWork.join",
};

/** The reason why a call is not reached, by its name. */
export const UNREACHED: ReadonlyMap<string, string> = new Map(
  Object.entries(BY_REASON).flatMap(([reason, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, reason] as const),
  ),
);
