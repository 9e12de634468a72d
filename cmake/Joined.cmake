# Six files of a folder are compiled as one: most of the time goes into templates that all of them take. So a name in a
# folder's unnamed namespaces is one file's alone.

option(RICCI_JOINED "Compile the library six files at a time: OFF compiles more slowly from nothing, faster what changed" ON)

# RESULT: the files to compile in place of SOURCES, which lie in FOLDER of src/ and are compiled with the same options.
function(ricci_join folder name sources result)
  set(compiled)
  while(RICCI_JOINED AND sources)
    list(LENGTH compiled count)
    list(SUBLIST sources 0 6 some)
    list(REMOVE_ITEM sources ${some})
    set(text)
    foreach(source IN LISTS some)
      cmake_path(GET source FILENAME file)
      string(APPEND text "#include \"${folder}/${file}\"\n")
    endforeach()
    set(joined ${PROJECT_BINARY_DIR}/joined/${name}_${count}.cpp)
    file(CONFIGURE OUTPUT ${joined} CONTENT "${text}")
    list(APPEND compiled ${joined})
  endwhile()
  set(${result} ${compiled} ${sources} PARENT_SCOPE)
endfunction()
