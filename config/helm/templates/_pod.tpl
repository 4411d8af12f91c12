{{/*
The spec of every pod. Called with `root`, and with `command`, `resources`, `config` and `secret` (names), `serviceAccount`,
`keepsFiles` (whether it sees the volume); for pods that stay, with `container`: YAML of ports and probes.
*/}}
{{- define "fermata.podSpec" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ .serviceAccount }}
automountServiceAccountToken: false
# The variables of other services may begin with FERMATA_, and are no settings.
enableServiceLinks: false
{{- with $values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  # Else every start opens the files of the volume to the group, keys among them.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
containers:
  - name: {{ .command }}
    image: {{ include "fermata.image" .root }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    args: [{{ .command }}]
    env:
      - { name: FERMATA_CONFIG, value: /etc/fermata/fermata.yaml }
      # The image names the volume itself, whose owner is root. This folder in it is made, and owned, by the process.
      - { name: FERMATA_DATA_DIR, value: /var/lib/fermata/data }
      {{- with $values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if .secret }}
    envFrom:
      - secretRef: { name: {{ .secret }} }
    {{- end }}
    {{- with .container }}
    {{- . | nindent 4 }}
    {{- end }}
    resources: {{- toYaml .resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    volumeMounts:
      - { name: config, mountPath: /etc/fermata, readOnly: true }
      - { name: data, mountPath: /var/lib/fermata }
      - { name: tmp, mountPath: /tmp }
      {{- with $values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: config
    configMap: { name: {{ .config }} }
  - name: data
    {{- if and .keepsFiles $values.persistence.enabled }}
    persistentVolumeClaim: { claimName: {{ include "fermata.claim" .root }} }
    {{- else }}
    emptyDir: {}
    {{- end }}
  # Archives of providers are unpacked here.
  - name: tmp
    emptyDir: { sizeLimit: 512Mi }
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The labels and annotations of a pod that stays: called with `root` and `component`. */}}
{{- define "fermata.podMetadata" -}}
labels:
  {{- include "fermata.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  # Settings are read at the start: new ones begin new pods.
  checksum/settings: {{ include "fermata.settings" .root | sha256sum }}
  checksum/secrets: {{ toJson .root.Values.secrets | sha256sum }}
  {{- with .root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Ports and probes of a pod that serves the API. */}}
{{- define "fermata.serving" -}}
ports:
  - { name: http, containerPort: 8080 }
  {{- include "fermata.metricsPort" . | nindent 2 }}
  {{- if .Values.admin.enabled }}
  - { name: admin, containerPort: {{ .Values.admin.port }} }
  {{- end }}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- define "fermata.metricsPort" -}}
{{- if .Values.metrics.enabled -}}
- { name: metrics, containerPort: {{ .Values.metrics.port }} }
{{- end }}
{{- end }}
