import type { Tiers } from "../accounts/tiers.js";
import type { AuditTrail } from "../audit/audit-trail.js";
import { unrecorded } from "../audit/unrecorded.js";
import type { CorePorts } from "../ports/core-ports.js";
import { AudioUrls } from "./audio-urls.js";
import { DeleteFiles } from "./delete-files.js";
import { DeriveAssets } from "./derive-assets.js";
import { ImportLibrary } from "./import-library.js";
import { ManageLibrary } from "./manage-library.js";
import { PublicLinks } from "./public-links.js";
import { ReadLibrary } from "./read-library.js";
import { ShareUrls } from "./share-urls.js";
import { type UploadLimits, UploadTrack } from "./upload-track.js";

export interface LibraryDeps {
  readonly ports: CorePorts;
  readonly audit: AuditTrail;
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  readonly audio: { readonly maxBytes: number; readonly urlTtlMs: number };
  readonly uploads: UploadLimits & { readonly decodes: boolean };
}

export interface Library {
  /** As an account sees tracks and playlists. */
  readonly read: ReadLibrary;
  /** Playlists, sharing and deletion of tracks. */
  readonly manage: ManageLibrary;
  /** The same by an account itself. */
  readonly own: ManageLibrary;
  /** Deletes the files of deleted tracks. */
  readonly deletedFiles: DeleteFiles;
  /** Brings in tracks and playlists, all or none. */
  readonly importer: ImportLibrary;
  /** By an account itself. */
  readonly upload: UploadTrack;
  /** By an operator or an embedding app, and recorded. */
  readonly operateUploads: UploadTrack;
  readonly derived: DeriveAssets;
  readonly audioUrls: AudioUrls;
  readonly shareUrls: ShareUrls;
  readonly publicLinks: PublicLinks;
}

/** Tracks and playlists: reading, keeping, sharing, uploading, importing, deleting. */
export function createLibrary({ ports, audit, tiers, publicUrl, audio, uploads }: LibraryDeps): Library {
  const { maxBytes, urlTtlMs: ttlMs } = audio;
  const { audioAnalyser: analyser, coverPainter: covers } = ports;
  const derived = new DeriveAssets({ ...ports, analyser, covers, maxBytes });
  const deletedFiles = new DeleteFiles(ports);
  const { decodes, ...limits } = uploads;
  const uploading = { ...ports, tiers, derived, decodes, limits };
  return {
    read: new ReadLibrary(ports),
    manage: new ManageLibrary({ ...ports, audit, deletedFiles }),
    own: new ManageLibrary({ ...ports, audit: unrecorded(ports.unitOfWork), deletedFiles }),
    deletedFiles,
    importer: new ImportLibrary({ ...ports, audit, derived, maxBytes }),
    upload: new UploadTrack({ ...uploading, record: null }),
    operateUploads: new UploadTrack({ ...uploading, record: (describe) => audit.alongside(describe) }),
    derived,
    audioUrls: new AudioUrls({ ...ports, publicUrl, ttlMs }),
    shareUrls: new ShareUrls(publicUrl),
    publicLinks: new PublicLinks(ports),
  };
}
