import type { Container } from "inversify";
import { ImportLibrary } from "../../core/library/import-library.js";
import { ManageLibrary } from "../../core/library/manage-library.js";
import { PublicLinks } from "../../core/library/public-links.js";
import { ReadLibrary } from "../../core/library/read-library.js";
import { ShareUrls } from "../../core/library/share-urls.js";
import { UploadTrack } from "../../core/library/upload-track.js";
import { TOKENS as T } from "../tokens.js";

/** Tracks and playlists: reading, keeping, sharing, importing. */
export function bindLibrary(container: Container): void {
  container.bind(T.readLibrary).toResolvedValue((library) => new ReadLibrary(library), [T.library]);
  container
    .bind(T.manageLibrary)
    .toResolvedValue(
      (audit, library, accounts, clock, ids, random) =>
        new ManageLibrary({ audit, library, accounts, clock, ids, random }),
      [T.audit, T.library, T.accounts, T.clock, T.ids, T.random],
    );
  container.bind(T.importLibrary).toResolvedValue(
    (audit, library, accounts, audio, derived, clock, ids, logger, settings) => {
      const { maxBytes } = settings.audio;
      return new ImportLibrary({ audit, library, accounts, audio, derived, clock, ids, logger, maxBytes });
    },
    [T.audit, T.library, T.accounts, T.audio, T.deriveAssets, T.clock, T.ids, T.logger, T.settings],
  );
  bindUploads(container);
  container
    .bind(T.publicLinks)
    .toResolvedValue(
      (accounts, jobs, library, clock) => new PublicLinks({ accounts, jobs, library, clock }),
      [T.accounts, T.jobs, T.library, T.clock],
    );
  container.bind(T.shareUrls).toResolvedValue((publicUrl) => new ShareUrls(() => publicUrl.current), [T.publicUrl]);
}

function bindUploads(container: Container): void {
  const upload = (isRecorded: boolean): UploadTrack => {
    const { audio, uploads } = container.get(T.settings);
    const audit = container.get(T.audit);
    return new UploadTrack({
      accounts: container.get(T.accounts),
      tiers: container.get(T.tiers),
      ledger: container.get(T.ledger),
      uploads: container.get(T.uploads),
      library: container.get(T.library),
      audio: container.get(T.audio),
      derived: container.get(T.deriveAssets),
      unitOfWork: container.get(T.unitOfWork),
      clock: container.get(T.clock),
      ids: container.get(T.ids),
      logger: container.get(T.logger),
      record: isRecorded ? (describe) => audit.alongside(describe) : null,
      decodes: audio.analyser !== "none",
      limits: { maxBytes: Math.min(uploads.maxBytes, audio.maxBytes), maxSeconds: uploads.maxSeconds },
    });
  };
  container.bind(T.uploadTrack).toResolvedValue(() => upload(false));
  container.bind(T.operateUploads).toResolvedValue(() => upload(true));
}
