-- The tables of an export, as an import of a trace makes them.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
  start INTEGER, "end" INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
  staticSharedMemory INTEGER, dynamicSharedMemory INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
  start INTEGER, "end" INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER,
  dstDeviceId INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
  start INTEGER, "end" INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, bytes INTEGER, memKind INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
  start INTEGER, "end" INTEGER, globalTid INTEGER, eventClass INTEGER, correlationId INTEGER, nameId INTEGER,
  returnValue INTEGER
);
CREATE TABLE NVTX_EVENTS (
  start INTEGER, "end" INTEGER, globalTid INTEGER, eventType INTEGER, textId INTEGER, domainId INTEGER,
  int64Value INTEGER
);
CREATE TABLE PROCESSES (globalPid, pid, name);
CREATE TABLE ThreadNames (nameId, priority, globalTid);
CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, smCount, threadsPerWarp);
CREATE TABLE ANALYSIS_DETAILS (duration);
CREATE TABLE META_DATA_EXPORT (name, value);
CREATE TABLE NSQ_IMPORT (category, events, rows);
CREATE TEMP TABLE text (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
