import { symlinkSync } from 'node:fs';
import { createNodeFileSystem } from '@turnlog/fs';
import {
  describeFileSystem,
  FaultFileSystem,
  type FileSystemSubject,
  ModelFileSystem,
  makeTemporaryDirectory,
} from '@turnlog/testkit';

function realSubject(): FileSystemSubject {
  const directory = makeTemporaryDirectory();
  return {
    fs: createNodeFileSystem(),
    root: directory.path,
    plantLink: (path, target) => symlinkSync(target, path),
    remove: () => directory.remove(),
  };
}

function modelSubject(): FileSystemSubject {
  const fs = new ModelFileSystem();
  fs.makeDirectory('/work');
  return {
    fs,
    root: '/work',
    plantLink: (path, target) => fs.plantLink(path, target),
    remove: () => undefined,
  };
}

function faultSubject(): FileSystemSubject {
  const inner = modelSubject();
  return { ...inner, fs: new FaultFileSystem(inner.fs) };
}

describeFileSystem('node:fs', realSubject);
describeFileSystem('model', modelSubject);
describeFileSystem('model behind faults that never strike', faultSubject);
