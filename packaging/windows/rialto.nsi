; The installer for one person, without administrator rights. Called by packaging/package.py with
; VERSION, FOLDER (the built program), ICON and OUT.
Unicode true
Target amd64-unicode
ManifestDPIAware true
Name "Rialto ${VERSION}"
OutFile "${OUT}"
Icon "${ICON}"
UninstallIcon "${ICON}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\Rialto"
InstallDirRegKey HKCU "Software\Rialto" "Folder"
SetCompressor /SOLID lzma
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Rialto"
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Section "Rialto" RIALTO
  ; what an older version left goes first; the marker keeps a wrong folder from being emptied
  IfFileExists "$INSTDIR\rialto.exe" 0 fresh
try:
  ClearErrors
  FileOpen $0 "$INSTDIR\rialto.exe" a ; Windows lets nobody write to a program that runs
  IfErrors 0 closed
  MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "Rialto is running. Close it, then retry." /SD IDCANCEL IDRETRY try
  Abort "Rialto is running. Nothing was changed."
closed:
  FileClose $0
  RMDir /r "$INSTDIR\_internal"
fresh:
  SetOutPath "$INSTDIR"
  File /r "${FOLDER}\*" ; makensis for Windows splits at this one alone, the one for Linux at both
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Rialto.lnk" "$INSTDIR\rialto.exe"
  WriteRegStr HKCU "Software\Rialto" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Rialto"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The Rialto developers"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  SectionGetSize ${RIALTO} $0
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\rialto.exe"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\rialto.exe"
  Delete "$INSTDIR\LICENCES.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Rialto.lnk"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Rialto"
  DeleteRegKey HKCU "Software\Classes\AppUserModelId\Rialto" ; written by the first notification
  ; what the person made stays unless they say otherwise; a silent uninstallation leaves it
  IfFileExists "$LOCALAPPDATA\Rialto\*.*" 0 kept
  MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "Your chats, settings, recordings and receipts are in$\n\
    $LOCALAPPDATA\Rialto$\n$\nDelete them too? This cannot be undone. Keys stay in the Windows Credential Manager." \
    /SD IDNO IDNO kept
  RMDir /r "$LOCALAPPDATA\Rialto"
kept:
  DetailPrint "What is kept is in $LOCALAPPDATA\Rialto."
SectionEnd
