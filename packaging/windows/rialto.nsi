; The installer for one user, without administrator rights. Called by packaging/package.py with VERSION,
; NUMBER (the version as four numbers), FOLDER (the built program), ICON and OUT.
Unicode true ; no `Target`: the official NSIS has stubs for 32 bits only, and writes to the same places with them
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
VIProductVersion "${NUMBER}"
VIAddVersionKey "ProductName" "Rialto"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Rialto Setup"
VIAddVersionKey "CompanyName" "The Rialto developers"
VIAddVersionKey "LegalCopyright" "The Rialto developers, MIT license"
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

!macro WaitUntilClosed ; Windows refuses to write to a program that runs
try:
  ClearErrors
  FileOpen $0 "$INSTDIR\rialto.exe" a
  IfErrors 0 closed
  MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "Rialto is running. Close it, then retry." /SD IDCANCEL IDRETRY try
  Abort "Rialto is running. Nothing was changed."
closed:
  FileClose $0
!macroend

Function .onInstSuccess
  IfSilent started
  MessageBox MB_YESNO|MB_ICONQUESTION "Rialto ${VERSION} is installed. Start Rialto now?" /SD IDNO IDNO started
  Exec '"$INSTDIR\rialto.exe"'
started:
FunctionEnd

Section "Rialto" RIALTO
  ; what an older version left goes first; the marker keeps a wrong folder from being emptied
  IfFileExists "$INSTDIR\rialto.exe" 0 fresh
  !insertmacro WaitUntilClosed
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
  IfFileExists "$INSTDIR\rialto.exe" 0 gone
  !insertmacro WaitUntilClosed
gone:
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\rialto.exe"
  Delete "$INSTDIR\LICENCES.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Rialto.lnk"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Rialto"
  DeleteRegKey HKCU "Software\Classes\AppUserModelId\Rialto" ; written by the first notification
  ; the user's data stays unless the user says otherwise; a silent uninstallation leaves it
  IfFileExists "$LOCALAPPDATA\Rialto\*.*" 0 kept
  MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "Your chats, settings, recordings and receipts are in$\n\
    $LOCALAPPDATA\Rialto$\n$\nDelete them too? This cannot be undone. Keys stay in the Windows Credential Manager." \
    /SD IDNO IDNO kept
  RMDir /r "$LOCALAPPDATA\Rialto"
kept:
  DetailPrint "What is kept is in $LOCALAPPDATA\Rialto."
SectionEnd
